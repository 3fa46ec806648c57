import { approvalPoll, pendingCount, portalApproval, portalApprovals } from "@gatehouse/contracts/portal-answers";
import { approvalResolution, approvedApproval, rejectedApproval } from "@gatehouse/contracts/approvals";
import { portalApprovalQuery } from "@gatehouse/contracts/portal";
import {
  approveApproval,
  countApprovable,
  getViewedApproval,
  listViewedApprovals,
  pollApproval,
  rejectApproval,
  type Viewer,
} from "../../directory/tools/approvals.ts";
import type { Identity } from "../../road/call.ts";
import { portalOperation, type PortalRoute } from "./portal-operation.ts";
import type { PortalRequest } from "./portal-request.ts";

const PATH = "/v1/portal/approvals";
const ONE = `${PATH}/:id`;

function callerOf({ call }: Pick<PortalRequest<unknown, unknown>, "call">): { identity: Identity; viewer: Viewer } {
  if (call.identity === null) throw new Error("an approval was asked for by nobody");
  const { identity, user } = call;
  return { identity, viewer: { requesterId: identity.userId ?? identity.credentialId, groupIds: user?.group_ids ?? [] } };
}

export const approvalRoutes: readonly PortalRoute[] = [
  portalOperation({
    method: "GET",
    path: PATH,
    name: "approvals",
    summary: "Approvals that the user requested or may resolve",
    answer: { status: 200, schema: portalApprovals },
    query: portalApprovalQuery,
    async run(request) {
      const { status, page, page_size } = request.query;
      const { identity, viewer } = callerOf(request);
      const { items, total } = await listViewedApprovals(request.services.directory, identity.tenantId, viewer, status, {
        limit: page_size,
        offset: (page - 1) * page_size,
      });
      return { approvals: items, total, page, page_size };
    },
  }),
  portalOperation({
    method: "GET",
    path: `${PATH}/pending-count`,
    name: "approvals_pending",
    summary: "Number of approvals waiting for the user's decision",
    answer: { status: 200, schema: pendingCount },
    async run(request) {
      const { identity, viewer } = callerOf(request);
      return { pending_count: await countApprovable(request.services.directory, identity.tenantId, viewer) };
    },
  }),
  portalOperation({
    method: "GET",
    path: ONE,
    name: "approval",
    summary: "One approval",
    answer: { status: 200, schema: portalApproval },
    run(request) {
      const { identity, viewer } = callerOf(request);
      return getViewedApproval(request.services.directory, identity.tenantId, request.params.id ?? "", viewer);
    },
  }),
  portalOperation({
    admits: "user_or_key",
    method: "GET",
    path: `${ONE}/poll`,
    name: "approval_poll",
    summary: "State of an approval; its token once it is approved",
    answer: { status: 200, schema: approvalPoll },
    run(request) {
      const { identity, viewer } = callerOf(request);
      return pollApproval(request.services.directory, identity.tenantId, request.params.id ?? "", viewer);
    },
  }),
  portalOperation({
    method: "POST",
    path: `${ONE}/approve`,
    name: "approval_approve",
    summary: "Approves",
    answer: { status: 200, schema: approvedApproval },
    body: approvalResolution,
    run(request) {
      const { identity, viewer } = callerOf(request);
      return approveApproval(
        request.services.directory,
        identity.tenantId,
        request.params.id ?? "",
        { name: request.user.username, viewer, account: { plane: "portal", id: viewer.requesterId } },
        request.body.note ?? null,
      );
    },
  }),
  portalOperation({
    method: "POST",
    path: `${ONE}/reject`,
    name: "approval_reject",
    summary: "Rejects",
    answer: { status: 200, schema: rejectedApproval },
    body: approvalResolution,
    run(request) {
      const { identity, viewer } = callerOf(request);
      return rejectApproval(
        request.services.directory,
        identity.tenantId,
        request.params.id ?? "",
        { name: request.user.username, viewer, account: { plane: "portal", id: viewer.requesterId } },
        request.body.note ?? null,
      );
    },
  }),
];
