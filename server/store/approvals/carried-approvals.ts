import { sql } from "kysely";
import { type ApprovalRedemption, approvalGoodFor } from "./approval-use.ts";
import type { Database } from "../database.ts";

/** The approval of exactly this call that was shown in this session, is granted and not yet used; the newest if there are several. */
export async function approvedInSession(
  db: Database,
  call: Omit<ApprovalRedemption, "id" | "callId">,
  session: string,
): Promise<string | null> {
  const row = await db
    .selectFrom("approvals")
    .select("id")
    .where(approvalGoodFor(call))
    .where(sql<boolean>`${session} = ANY(shown_in)`)
    .orderBy("created_at", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.id ?? null;
}

/** Passes a redeemed approval from one call to the next. True for exactly one of all attempts with the same `from`. */
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
