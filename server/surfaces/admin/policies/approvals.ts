import {
  type Approval,
  approval,
  approvalQuery,
  approvalResolution,
  approvedApproval,
  rejectedApproval,
} from "@gatehouse/contracts/approvals";
import { listOf } from "@gatehouse/contracts/conventions";
import { approveApproval, getApproval, listApprovals, rejectApproval, type Resolver } from "../../../directory/tools/approvals.ts";
import type { Write } from "../../../directory/writes/write.ts";
import { readsContent } from "../content-readers.ts";
import { type AdminCall, operation, type AdminOperation } from "../operation.ts";
import { idOf, listed } from "../resource.ts";

const PATH = "/v1/admin/approvals";
const ONE = `${PATH}/{id}`;
const reading = { tag: "Approvals", access: "tools:read", reach: "one" } as const;
const WITHHELD = "Its arguments are empty for readers with neither `tools:write` nor `proxy:logs:read_bodies`.";

const resolving = {
  tag: "Approvals",
  access: "tools:write",
  reach: "one",
  subject: "approvals",
  method: "POST",
  body: approvalResolution,
} as const;

export const approvalOperations: readonly AdminOperation[] = [
  operation({
    ...reading,
    method: "GET",
    path: PATH,
    summary: "List approvals",
    description: `Requests to let a tool call through, newest first. ${WITHHELD}`,
    query: approvalQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("approvals", approval) },
    run: (call) =>
      listed("approvals", call, async (page) => {
        const { items, total } = await listApprovals(call.services.directory, call.tenantId, call.query.status, page);
        return { total, items: items.map((one) => asReadBy(call, one)) };
      }),
  }),
  operation({
    ...reading,
    method: "GET",
    path: ONE,
    subject: "approvals",
    summary: "Read an approval",
    description: WITHHELD,
    answer: { status: 200, about: "The record", schema: approval },
    run: async (call) => asReadBy(call, await getApproval(call.services.directory, call.tenantId, idOf(call))),
  }),
  operation({
    ...resolving,
    path: `${ONE}/approve`,
    summary: "Approve a tool call",
    description: "Whoever asked sends the call again with the token, once. A request that is no longer pending is a 409.",
    answer: { status: 200, about: "What it is now, with the token", schema: approvedApproval },
    run: (call) =>
      resolved(call, "approve", (parts, resolver) => approveApproval(parts, call.tenantId, idOf(call), resolver, call.body.note ?? null)),
  }),
  operation({
    ...resolving,
    path: `${ONE}/reject`,
    summary: "Reject a tool call",
    answer: { status: 200, about: "What it is now", schema: rejectedApproval },
    run: (call) =>
      resolved(call, "reject", (parts, resolver) => rejectApproval(parts, call.tenantId, idOf(call), resolver, call.body.note ?? null)),
  }),
];

function asReadBy({ admin }: Pick<AdminCall<unknown, unknown>, "admin">, one: Approval): Approval {
  if (readsContent(admin)) return one;
  // A digest would identify a known file.
  const { digested_parts: _digested, ...metadata } = one.request_metadata;
  return { ...one, call_arguments: {}, call_arguments_text: "{}", request_metadata: metadata };
}

type Parts = Parameters<typeof approveApproval>[0];

/** Keeps the token out of the admin log. */
function resolved<T extends { status: string }>(
  call: Pick<AdminCall<unknown, { note?: string | null | undefined }>, "write" | "params" | "tenantId" | "body">,
  action: string,
  resolve: (parts: Parts, resolver: Resolver) => Promise<T>,
): Promise<T> {
  return call.write(async (write: Write) => {
    const { id, username } = write.actor;
    const account = id === null ? null : ({ plane: "admin", id } as const);
    const done = await resolve({ ...write.directory, db: write.trx }, { name: username ?? "an administrator", viewer: null, account });
    write.log({
      tenant_id: call.tenantId,
      action,
      resource: "approvals",
      resource_id: idOf(call),
      after: { status: done.status, note: call.body.note ?? null },
    });
    return done;
  });
}
