import { approversOf, needsApproval } from "../../directory/tools/tool-access.ts";
import { redeemApproval, redeemAsked, redeemShown, requestApproval } from "../../directory/tools/approvals.ts";
import { reasonOf, type Refusal, refuse, Refused, isRefusal } from "../../kernel/errors.ts";
import { exactDigest } from "../../wire/mcp/exact-arguments.ts";
import { memberText } from "../../wire/mcp/rpc.ts";
import type { Call, ToolRoute, ToolTarget } from "../../road/call.ts";
import type { WholeAnswer } from "../../road/answer.ts";
import { type CarryOn, carriedOn, carryOn } from "./approval-chain.ts";
import { approvalRequired, askedByState, canShowAddress, takeAnswer, whenDecided } from "./approval-question.ts";
import { refuseLostSession } from "./caller-session.ts";
import { definitionNow } from "./definition-now.ts";
import type { HeldCall } from "./asked-first.ts";
import { heldForApproval, notGiven, sessionDigest } from "./approval-wait.ts";
import type { ToolParts } from "./tool-parts.ts";
import type { ToolRequest } from "./tool-request.ts";

/**
 * Holds a call of a tool that needs approval: makes the request for it, or redeems one that was approved, by its token
 * or by what the gateway gave a client that can show the way to it. A refusal, an answer and a held call withhold it,
 * everything else lets it go on; what carries the approval on is for answers that ask a stateless caller for input.
 * `name` is the tool as its server knows it.
 */
export async function approvalGate(
  call: Call,
  request: ToolRequest,
  route: Pick<ToolRoute, "virtual">,
  target: ToolTarget,
  name: string,
  parts: ToolParts,
): Promise<Refusal | WholeAnswer | HeldCall | CarryOn | null> {
  const { identity, scope } = call;
  const { server, access } = target;
  const stateless = request.envelope !== null;
  const state = stateless && request.message?.params.requestState !== undefined;
  // A state may have been sealed for an approval that is not needed any more.
  if (identity === null || scope === null || !(needsApproval(access, name) || state)) return null;
  const given = memberText(request.message?.document.memberText("params") ?? "{}", "arguments") ?? "{}";
  const requesterId = identity.userId ?? identity.credentialId;
  const argumentsDigest = exactDigest(given);
  const terms = {
    tenantId: identity.tenantId,
    requesterId,
    requesterGroupId: scope.groupId,
    serverId: server.id,
    capabilityName: name,
    argumentsDigest,
  };
  const definition = () => definitionNow(call, request, target, name, parts);
  const redemption = async () => ({ ...terms, definitionDigest: await definition(), callId: call.id });
  const owner = JSON.stringify([
    identity.tenantId,
    requesterId,
    scope.groupId,
    request.target.kind,
    request.target.id,
    server.id,
    name,
    argumentsDigest,
  ]);
  const covered = (approvalId: string): CarryOn | null => {
    call.row.consumed_approval_request_id = approvalId;
    call.row.agent_authz_decision = "allow";
    return stateless ? carryOn(call, owner, approvalId, access.approvalTimeoutSeconds, parts) : null;
  };
  const blocked = () => {
    call.row.proxy_subtype = "approval_required";
    call.row.agent_authz_decision = "approval_required";
  };
  try {
    const lost = await refuseLostSession(call, request, route, target, parts);
    if (lost !== null) return lost;
    const answered = state ? takeAnswer(request, owner, parts) : null;
    if (answered !== null && needsApproval(access, name)) {
      // What was refused to be opened is told as to any other client.
      const found = await whenDecided(call, server.url, answered.id, parts, answered.declined ? 0 : undefined);
      if (isRefusal(found)) return found;
      if (found?.status === "approved")
        return (await redeemAsked(parts, found.id, await redemption())) ? covered(found.id) : refuse("approval_token_invalid");
      blocked();
      if (found?.status !== "pending") return notGiven(found);
      return answered.declined ? approvalRequired(found) : askedByState(call, request, owner, found, answered.round + 1, parts);
    }
    const carried = state && answered === null ? await carriedOn(call, request, owner, definition, parts) : null;
    if (carried === "over")
      return refuse("approval_token_invalid", "What carries the approval of this call on was used already, or came too late.");
    if (carried !== null) return covered(carried);
    if (!needsApproval(access, name)) return null;
    const token = call.headers.get("x-approval-token");
    if (token !== null) {
      const redeemed = await redeemApproval(parts, token, await redemption());
      return redeemed === null ? refuse("approval_token_invalid") : covered(redeemed);
    }
    const redeeming = await redemption();
    const shows = canShowAddress(call, request, route.virtual?.id ?? server.id, parts);
    const session = stateless || !shows ? null : sessionDigest(parts, call.headers.get("mcp-session-id") ?? "");
    const again = session === null ? null : await redeemShown(parts, session, redeeming);
    if (again !== null) return covered(again);
    const approval = await requestApproval(parts, {
      ...terms,
      definitionDigest: redeeming.definitionDigest,
      serverConfigId: access.configId,
      serverName: server.name,
      requesterType: identity.userId === null ? "api_key" : "user",
      requesterDisplay: identity.username ?? identity.credentialName,
      approverGroupIds: approversOf(access, name),
      callArguments: given,
      metadata: { call_id: call.id, client_ip: call.ip },
      timeoutSeconds: access.approvalTimeoutSeconds,
    });
    blocked();
    if (!shows) return approvalRequired(approval);
    if (stateless) return askedByState(call, request, owner, approval, 0, parts);
    const redeem = async (id: string) => {
      try {
        if (!(await redeemAsked(parts, id, await redemption()))) return refuse("approval_token_invalid");
      } catch (error) {
        if (error instanceof Refused) return error.refusal;
        throw error;
      }
      covered(id);
      return null;
    };
    return {
      kind: "held",
      ask: heldForApproval(call, request, server.url, approval, redeem, parts),
      headers: { "x-gw-approval-id": approval.id },
    };
  } catch (error) {
    if (error instanceof Refused) return error.refusal;
    return refuse("directory_unavailable", "Approvals cannot be looked up just now.", {
      reason: reasonOf(error),
      headers: { "retry-after": "1" },
    });
  }
}
