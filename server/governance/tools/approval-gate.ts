import { needsApproval } from "../../directory/tools/tool-access.ts";
import { redeemApproval, requestApproval } from "../../directory/tools/approvals.ts";
import { type Refusal, refuse } from "../../kernel/errors.ts";
import { canonicalJson, digestOf } from "../../wire/mcp/tool-definitions.ts";
import type { Call, ToolTarget } from "../call.ts";
import type { ToolParts } from "./tool-parts.ts";
import type { ToolRequest } from "./tool-request.ts";

/**
 * Holds a call of a tool that needs approval: makes the request for it, or redeems the token of one that was approved.
 * Null lets the call go on. `name` is the tool as its server knows it.
 */
export async function approvalGate(call: Call, request: ToolRequest, { server, access }: ToolTarget, name: string, parts: ToolParts): Promise<Refusal | null> {
  const { identity, scope } = call;
  if (identity === null || scope === null || !needsApproval(access, name)) return null;
  const given = request.message?.params.arguments ?? {};
  const requesterId = identity.userId ?? identity.apiKeyId;
  const argumentsDigest = digestOf(given);
  const terms = { tenantId: identity.tenantId, requesterId, requesterGroupId: scope.groupId, serverId: server.id, capabilityName: name, argumentsDigest };
  try {
    const token = call.request.headers.get("x-approval-token");
    if (token !== null) {
      const redeemed = await redeemApproval(parts, token, { ...terms, callId: call.id });
      if (redeemed === null) return refuse("approval_token_invalid");
      call.row.consumed_approval_request_id = redeemed;
      call.row.agent_authz_decision = "allow";
      return null;
    }
    const approval = await requestApproval(parts, {
      ...terms,
      serverConfigId: access.configId,
      serverName: server.name,
      requesterType: identity.userId === null ? "api_key" : "user",
      requesterDisplay: identity.username ?? identity.apiKeyName,
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
