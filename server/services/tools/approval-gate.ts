import type { Approval } from "@gatehouse/contracts/approvals";
import type { Refusal } from "../../kernel/errors.ts";
import { type Action, actionOn, type ApprovalProof } from "../../road/action.ts";
import type { WholeAnswer } from "../../road/answer.ts";
import type { Call } from "../../road/call.ts";
import type { ToolRoute, ToolTarget } from "../../road/target.ts";
import type { RequestView } from "../../road/view.ts";
import { exactDigest } from "../../wire/mcp/exact-arguments.ts";
import { memberText } from "../../wire/mcp/rpc.ts";
import { continuedApproval, approvalSealer, type SealApproval } from "./approval-chain.ts";
import { approvalNotGiven, approvalRequired } from "../../road/approval-required.ts";
import { approvalInputRequest, canElicitUrl, takeApprovalState, awaitDecision } from "./approval-question.ts";
import { waitForApproval, sessionDigest } from "./approval-wait.ts";
import type { PausedCall } from "./paused-call.ts";
import { refuseLostSession } from "./caller-session.ts";
import { currentDefinition } from "./current-definition.ts";
import { definitionOf } from "./offered-definitions.ts";
import type { ToolParts } from "./tool-parts.ts";
import type { ToolRequest } from "./tool-request.ts";

/** The call of a tool, as the gates see it, and the ways of this protocol to an approval. */
export interface ToolAction {
  readonly action: Action;
  /** What carries the approval on in answers that ask a stateless caller for input; null where nothing does. */
  carriedBy(approvalId: string | null): SealApproval | null;
  /** What a caller whose call waits for an approval is told: at once, or on its own stream until the approval is given. */
  whileHeld(approval: Approval | null): WholeAnswer | Refusal | PausedCall;
}

/** `name` is the tool as its server knows it. */
export function toolAction(
  call: Call,
  request: ToolRequest,
  view: RequestView,
  route: ToolRoute,
  target: ToolTarget,
  name: string,
  parts: ToolParts,
): ToolAction {
  const { server, access } = target;
  const { message } = request;
  const stateless = request.envelope !== null;
  const state = stateless && message?.params.requestState !== undefined;
  const given = memberText(message?.document.memberText("params") ?? "{}", "arguments") ?? "{}";
  const plain = actionOn(target, name, given);
  const { required } = plain.approval;
  // Hashes the arguments: most calls need no approval.
  const owner = () => ownerOf(call, request, server.id, name, given);
  const definition = () => currentDefinition(call, request, target, name, parts);
  const shows = required && canElicitUrl(call, request, route.virtual?.id ?? server.id, parts);
  const answered = state ? takeApprovalState(request, owner(), parts) : null;
  const proof: ApprovalProof = {
    ready: () => refuseLostSession(call, request, route, target, parts),
    ...(answered === null
      ? {}
      : // A declined page gets the same answer as any other client.
        {
          asked: async () => {
            const found = await awaitDecision(call, server.url, answered.id, parts, answered.declined ? 0 : undefined);
            // What was let in when it began to wait may not be any more.
            return (await parts.gates.readmit(call, "group", view)).refusal ?? found;
          },
        }),
    ...(state && answered === null ? { continued: () => continuedApproval(call, request, owner(), definition, parts) } : {}),
    session: stateless || !shows ? null : sessionDigest(parts, call.headers.get("mcp-session-id") ?? ""),
  };
  const pending = (approval: Approval): WholeAnswer | Refusal => {
    if (answered !== null)
      return answered.declined
        ? approvalRequired(approval)
        : approvalInputRequest(call, request, owner(), approval, answered.round + 1, parts);
    return shows && stateless ? approvalInputRequest(call, request, owner(), approval, 0, parts) : approvalRequired(approval);
  };
  return {
    action: {
      ...plain,
      alias: request.capability?.name ?? name,
      definition: definitionOf(call, target, name, parts),
      approval: { ...plain.approval, definitionDigest: definition, proof },
    },
    carriedBy: (approvalId) =>
      approvalId === null || !stateless ? null : approvalSealer(call, owner(), approvalId, access.approvalTimeoutSeconds, parts),
    whileHeld(approval) {
      if (approval?.status !== "pending") return approvalNotGiven(approval);
      if (!shows || stateless || answered !== null) return pending(approval);
      return {
        kind: "held",
        ask: waitForApproval(call, request, server.url, approval, parts),
        headers: { "x-gw-approval-id": approval.id },
      };
    },
  };
}

/** The caller, server, tool and arguments that an approval is good for. */
function ownerOf({ identity, scope }: Call, { target }: ToolRequest, serverId: string, name: string, given: string): string {
  const requesterId = identity?.userId ?? identity?.credentialId;
  return JSON.stringify([identity?.tenantId, requesterId, scope?.groupId, target.kind, target.id, serverId, name, exactDigest(given)]);
}
