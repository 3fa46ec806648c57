import { type ExpressionBuilder, sql } from "kysely";
import type { Database } from "./database.ts";
import type { Schema } from "./schema.ts";

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

/** Which approvals let this very call through: given, unused, not over, and for nobody and nothing else. */
const goodFor = (call: Omit<ApprovalRedemption, "id" | "callId">) => (eb: ExpressionBuilder<Schema, "approvals">) =>
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
    .where(goodFor(redemption))
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

/** Notes that the caller was shown the way to the approval in this session. */
export async function markApprovalShown(db: Database, tenantId: string, id: string, session: string): Promise<void> {
  await db
    .updateTable("approvals")
    .set({ shown_in: sql<string[]>`array_append(shown_in, ${session})` })
    .where("tenant_id", "=", tenantId)
    .where("id", "=", id)
    .where(sql<boolean>`NOT (${session} = ANY(shown_in))`)
    .execute();
}

/** The approval of this very call that was shown in this session, was given and is not used yet; the newest of several. */
export async function approvedInSession(
  db: Database,
  call: Omit<ApprovalRedemption, "id" | "callId">,
  session: string,
): Promise<string | null> {
  const row = await db
    .selectFrom("approvals")
    .select("id")
    .where(goodFor(call))
    .where(sql<boolean>`${session} = ANY(shown_in)`)
    .orderBy("created_at", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.id ?? null;
}

/** Hands a redeemed approval from the call that has it to the next; true for one of all calls that ever try with the same `from`. */
export async function transferApproval(
  db: Database,
  hand: { readonly id: string; readonly tenantId: string; readonly from: string; readonly to: string; readonly definitionDigest: string },
): Promise<boolean> {
  const row = await db
    .updateTable("approvals")
    .set({ consumed_by_call: hand.to })
    .where("id", "=", hand.id)
    .where("tenant_id", "=", hand.tenantId)
    .where("status", "=", "approved")
    .where("consumed_at", "is not", null)
    .where("consumed_by_call", "=", hand.from)
    .where("definition_digest", "=", hand.definitionDigest)
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}
