import { sql } from "kysely";
import type { Database } from "../database.ts";

export async function keepHeldAnswer(db: Database, tenantId: string, approvalId: string, sealed: string): Promise<void> {
  await db
    .insertInto("held_answers")
    .values({ approval_id: approvalId, tenant_id: tenantId, sealed })
    .onConflict((conflict) => conflict.column("approval_id").doNothing())
    .execute();
}

/** Deletes and returns the answer, so it is given out once; null if there is none. */
export async function takeHeldAnswer(db: Database, tenantId: string, approvalId: string): Promise<string | null> {
  const row = await db
    .deleteFrom("held_answers")
    .where("tenant_id", "=", tenantId)
    .where("approval_id", "=", approvalId)
    .returning("sealed")
    .executeTakeFirst();
  return row?.sealed ?? null;
}

/** Deletes answers whose approval is rejected, expired or used. */
export async function dropHeldAnswers(db: Database): Promise<void> {
  await sql`
    DELETE FROM held_answers h USING approvals a
     WHERE a.id = h.approval_id AND (a.status IN ('rejected', 'expired') OR a.consumed_at IS NOT NULL)`.execute(db);
}
