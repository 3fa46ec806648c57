import type { Approval } from "@gatehouse/contracts/approvals";
import { findApproval } from "../../../directory/tools/approvals.ts";
import { isRefusal, type Refusal } from "../../../kernel/errors.ts";
import { type Action, actionOn, type ApprovalProof } from "../../../road/action.ts";
import type { WholeAnswer } from "../../../road/answer.ts";
import type { Call } from "../../../road/call.ts";
import type { ToolRoute, ToolTarget } from "../../../road/target.ts";
import { exactDigest } from "../../../wire/mcp/exact-arguments.ts";
import { memberText } from "../../../wire/mcp/rpc.ts";
import { continuedApproval, approvalSealer, type SealApproval } from "./approval-chain.ts";
import { approvalMissing, approvalRequired } from "../../../road/policy/approval-required.ts";
import { approvalInputRequest, canElicitUrl, takeApprovalState, awaitDecision } from "./approval-question.ts";
import { waitForApproval, sessionDigest } from "./approval-wait.ts";
import type { PausedCall } from "./paused-call.ts";
import { refuseLostSession } from "../sessions/caller-session.ts";
import { currentDefinition } from "../definitions/current-definition.ts";
import { definitionOf } from "../definitions/offered-definitions.ts";
import type { ToolParts } from "../tool-parts.ts";
import type { ToolRequest } from "../tool-request.ts";

/** A tool call as the gates see it, with this protocol's ways to obtain an approval. */
export interface ToolAction {
  readonly action: Action;
  /** Seals the approval into answers that ask a stateless caller for input; null if that is not needed. */
  carriedBy(approvalId: string | null): SealApproval | null;
  /** The answer for a call that waits for approval, immediate or on its own stream; null once it is approved. */
  whileHeld(approval: Approval | null): Promise<WholeAnswer | Refusal | PausedCall | null>;
}

export interface RequestedTool {
  readonly request: ToolRequest;
  readonly route: ToolRoute;
  readonly target: ToolTarget;
  /** The tool's name on its server. */
  readonly name: string;
  /** ID of the approval that the call was paused for before; null if it was not paused. */
  readonly heldFor: string | null;
}

export function toolAction(call: Call, { request, route, target, name, heldFor }: RequestedTool, parts: ToolParts): ToolAction {
  const { server, access } = target;
  const { message } = request;
  const stateless = request.envelope !== null;
  const state = stateless && message?.params.requestState !== undefined;
  const given = memberText(message?.document.memberText("params") ?? "{}", "arguments") ?? "{}";
  const plain = actionOn(target, name, given);
  const { required } = plain.approval;
  // Computed lazily, because it hashes the arguments and most calls need no approval.
  const owner = () => ownerOf(call, request, server.id, name, given);
  const definition = () => currentDefinition(call, request, target, name, parts);
  const shows = required && canElicitUrl(call, request, route.virtual?.id ?? server.id, parts);
  const answered = state ? takeApprovalState(request, owner(), parts) : null;
  const requestedApproval = heldFor ?? answered?.id;
  const proof: ApprovalProof = {
    ready: () => refuseLostSession(call, request, route, target, parts),
    ...(requestedApproval === undefined ? {} : { asked: () => findApproval(parts, call.identity?.tenantId ?? "", requestedApproval) }),
    ...(state && answered === null ? { continued: () => continuedApproval(call, request, owner(), definition, parts) } : {}),
    session: stateless || !shows ? null : sessionDigest(parts, call.headers.get("mcp-session-id") ?? ""),
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
    async whileHeld(approval) {
      if (approval?.status !== "pending") return approvalMissing(approval);
      // A client that declined to open the page gets the same error as one that cannot show it.
      if (answered === null ? !shows : answered.declined) return approvalRequired(approval);
      if (answered !== null) {
        const found = await awaitDecision(call, server.url, approval.id, parts);
        if (found === null || isRefusal(found)) return found ?? approvalMissing(found);
        if (found.status === "approved") return null;
        return found.status === "pending"
          ? approvalInputRequest(call, request, owner(), found, answered.round + 1, parts)
          : approvalMissing(found);
      }
      if (stateless) return approvalInputRequest(call, request, owner(), approval, 0, parts);
      return {
        kind: "held",
        ask: waitForApproval(call, request, server.url, approval, parts),
        headers: { "x-gw-approval-id": approval.id },
      };
    },
  };
}

/** What an approval covers: the caller, server, tool and arguments. */
function ownerOf({ identity, scope }: Call, { target }: ToolRequest, serverId: string, name: string, given: string): string {
  const requesterId = identity?.userId ?? identity?.credentialId;
  return JSON.stringify([identity?.tenantId, requesterId, scope?.groupId, target.kind, target.id, serverId, name, exactDigest(given)]);
}
