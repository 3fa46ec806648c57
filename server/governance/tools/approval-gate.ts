import { needsApproval } from "../../directory/tools/tool-access.ts";
import { redeemApproval, requestApproval } from "../../directory/tools/approvals.ts";
import { type Refusal, refuse } from "../../kernel/errors.ts";
import { canonicalJson, digestOf } from "../../wire/mcp/tool-definitions.ts";
import type { Call, ToolTarget } from "../call.ts";
import { type CarryOn, carriedOn, carryOn } from "./approval-chain.ts";
import type { ToolParts } from "./tool-parts.ts";
import type { ToolRequest } from "./tool-request.ts";

/**
 * Holds a call of a tool that needs approval: makes the request for it, or redeems the token of one that was approved.
 * A refusal withholds the call, everything else lets it go on; what carries the approval on is for answers that ask a
 * stateless caller for input. `name` is the tool as its server knows it.
 */
export async function approvalGate(call: Call, request: ToolRequest, { server, access }: ToolTarget, name: string, parts: ToolParts): Promise<Refusal | CarryOn | null> {
  const { identity, scope } = call;
  const stateless = request.envelope !== null;
  const state = stateless && request.message?.params.requestState !== undefined;
  // A state may have been sealed for an approval that is not needed any more.
  if (identity === null || scope === null || !(needsApproval(access, name) || state)) return null;
  const given = request.message?.params.arguments ?? {};
  const requesterId = identity.userId ?? identity.credentialId;
  const argumentsDigest = digestOf(given);
  const terms = { tenantId: identity.tenantId, requesterId, requesterGroupId: scope.groupId, serverId: server.id, capabilityName: name, argumentsDigest };
  const owner = JSON.stringify([identity.tenantId, requesterId, scope.groupId, request.target.kind, request.target.id, server.id, name, argumentsDigest]);
  const covered = (approvalId: string): CarryOn | null => {
    call.row.consumed_approval_request_id = approvalId;
    call.row.agent_authz_decision = "allow";
    return stateless ? carryOn(call, owner, approvalId, access.approvalTimeoutSeconds, parts) : null;
  };
  try {
    const carried = state ? await carriedOn(call, request, owner, parts) : null;
    if (carried === "over") return refuse("approval_token_invalid", "What carries the approval of this call on was used already, or came too late.");
    if (carried !== null) return covered(carried);
    if (!needsApproval(access, name)) return null;
    const token = call.request.headers.get("x-approval-token");
    if (token !== null) {
      const redeemed = await redeemApproval(parts, token, { ...terms, callId: call.id });
      return redeemed === null ? refuse("approval_token_invalid") : covered(redeemed);
    }
    const approval = await requestApproval(parts, {
      ...terms,
      serverConfigId: access.configId,
      serverName: server.name,
      requesterType: identity.userId === null ? "api_key" : "user",
      requesterDisplay: identity.username ?? identity.credentialName,
      approverGroupIds: access.approverGroupIds,
      callArguments: canonicalJson(given),
      metadata: { call_id: call.id, client_ip: call.ip },
      timeoutSeconds: access.approvalTimeoutSeconds,
    });
    call.row.proxy_subtype = "approval_required";
    call.row.agent_authz_decision = "approval_required";
    return refuse("approval_required", undefined, {
      headers: { "x-gw-approval-id": approval.id },
      extra: { approval_id: approval.id, status: approval.status, expires_at: approval.expires_at, poll: `/v1/portal/approvals/${approval.id}/poll` },
    });
  } catch (error) {
    return refuse("directory_unavailable", "Approvals cannot be looked up just now.", { reason: error instanceof Error ? error.message : String(error), headers: { "retry-after": "1" } });
  }
}
