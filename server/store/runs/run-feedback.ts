import type { Database } from "../database.ts";

/** The first of these runs in which the user took part; null if none. */
export async function runOfUser(db: Database, tenantId: string, rootTaskIds: readonly string[], userId: string): Promise<string | null> {
  const rows = await db
    .selectFrom("audit_rows")
    .select("root_task_id")
    .distinct()
    .where("tenant_id", "=", tenantId)
    .where("root_task_id", "in", rootTaskIds)
    .where("gateway_user_id", "=", userId)
    .where("proxy_type", "!=", "portal")
    .execute();
  const there = new Set(rows.map((row) => row.root_task_id));
  return rootTaskIds.find((id) => there.has(id)) ?? null;
}

export interface Feedback {
  readonly tenantId: string;
  readonly rootTaskId: string;
  readonly userId: string;
  readonly score: 1 | -1;
  readonly comment: string | null;
  readonly now: Date;
}

/** Replaces the user's earlier feedback on the run. */
export async function putFeedback(db: Database, { tenantId, rootTaskId, userId, score, comment, now }: Feedback): Promise<void> {
  await db
    .insertInto("run_feedback")
    .values({ tenant_id: tenantId, root_task_id: rootTaskId, end_user_id: userId, score, comment, updated_at: now })
    .onConflict((conflict) =>
      conflict.columns(["tenant_id", "root_task_id", "end_user_id"]).doUpdateSet({ score, comment, updated_at: now }),
    )
    .execute();
}

export async function withdrawFeedback(db: Database, tenantId: string, rootTaskId: string, userId: string): Promise<void> {
  await db
    .deleteFrom("run_feedback")
    .where("tenant_id", "=", tenantId)
    .where("root_task_id", "=", rootTaskId)
    .where("end_user_id", "=", userId)
    .execute();
}
