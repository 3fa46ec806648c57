import type { Approval } from "@gatehouse/contracts/approvals";
import { type Refusal, refuse } from "../../kernel/errors.ts";
import type { JsonObject } from "../../kernel/json-value.ts";

/** Details of the approval, for the caller of a blocked call (interface 7.4). */
export function approvalData({ id, status, expires_at: expiresAt }: Approval): JsonObject {
  return { approval_id: id, status, expires_at: expiresAt, poll: `/v1/portal/approvals/${id}/poll` };
}

export function approvalRequired(approval: Approval): Refusal {
  return refuse("approval_required", undefined, { headers: { "x-gw-approval-id": approval.id }, extra: approvalData(approval) });
}

/** The refusal for a call whose approval was rejected, expired, or already used. */
export function approvalMissing(approval: Approval | null): Refusal {
  return approval?.status === "rejected"
    ? refuse("approval_rejected", undefined, { extra: { approval_id: approval.id, status: approval.status } })
    : refuse("approval_token_invalid", "Nobody decided on the approval of this call in time, or it was used already.");
}

/** The refusal for a held action: how to get the approval, or why it was not given. */
export function heldRefusal(approval: Approval | null): Refusal {
  return approval?.status === "pending" ? approvalRequired(approval) : approvalMissing(approval);
}
