import { type ExpressionBuilder, sql } from "kysely";
import type { Database } from "../database.ts";
import type { Schema } from "../schema.ts";

export interface ApprovalRedemption {
  readonly id: string;
  readonly tenantId: string;
  readonly requesterId: string;
  readonly requesterGroupId: string;
  readonly serverId: string;
  readonly capabilityName: string;
  readonly argumentsDigest: string;
  readonly definitionDigest: string;
  readonly callId: string;
  readonly now: Date;
}

/** Condition: the approval is granted, unused, unexpired and for exactly this call. */
export const approvalGoodFor = (call: Omit<ApprovalRedemption, "id" | "callId">) => (eb: ExpressionBuilder<Schema, "approvals">) =>
  eb.and([
    eb("tenant_id", "=", call.tenantId),
    eb("requester_id", "=", call.requesterId),
    eb("requester_group_id", "=", call.requesterGroupId),
    eb("server_id", "=", call.serverId),
    eb("capability_name", "=", call.capabilityName),
    eb("arguments_digest", "=", call.argumentsDigest),
    eb("definition_digest", "=", call.definitionDigest),
    eb("status", "=", "approved"),
    eb("consumed_at", "is", null),
    eb("expires_at", ">", call.now),
  ]);

/** True for exactly one of all calls that ever present the same approval, and only for the call it was given for. */
export async function consumeApproval(db: Database, redemption: ApprovalRedemption): Promise<boolean> {
  const row = await db
    .updateTable("approvals")
    .set({ consumed_at: redemption.now, consumed_by_call: redemption.callId })
    .where("id", "=", redemption.id)
    .where(approvalGoodFor(redemption))
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

/** Records that the caller was shown a link to the approval in this session. */
export async function markApprovalShown(db: Database, tenantId: string, id: string, session: string): Promise<void> {
  await db
    .updateTable("approvals")
    .set({ shown_in: sql<string[]>`array_append(shown_in, ${session})` })
    .where("tenant_id", "=", tenantId)
    .where("id", "=", id)
    .where(sql<boolean>`NOT (${session} = ANY(shown_in))`)
    .execute();
}
