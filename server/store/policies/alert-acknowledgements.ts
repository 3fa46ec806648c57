import { sql } from "kysely";
import type { Database } from "../database.ts";

/** When each of these users acknowledged the alert, for those who did. */
export async function acknowledgementsOf(db: Database, alertId: string, userIds: readonly string[]): Promise<ReadonlyMap<string, Date>> {
  if (userIds.length === 0) return new Map();
  const rows = await db
    .selectFrom("alert_acknowledgements")
    .select(["end_user_id", "acknowledged_at"])
    .where("alert_id", "=", alertId)
    .where("end_user_id", "in", userIds)
    .execute();
  return new Map(rows.map((row) => [row.end_user_id, row.acknowledged_at]));
}

/** When the user acknowledged the alert, which may have been earlier; undefined if none of these groups has the alert. */
export async function acknowledgeAlert(
  db: Database,
  tenantId: string,
  groupIds: readonly string[],
  userId: string,
  alertId: string,
  now: Date,
): Promise<Date | undefined> {
  if (groupIds.length === 0) return undefined;
  const { rows } = await sql<{ acknowledged_at: Date }>`
    INSERT INTO alert_acknowledgements (alert_id, end_user_id, acknowledged_at)
    SELECT id, ${userId}, ${now} FROM alerts WHERE tenant_id = ${tenantId} AND id = ${alertId} AND group_id = ANY(${groupIds as string[]}::uuid[])
    ON CONFLICT (alert_id, end_user_id) DO UPDATE SET acknowledged_at = alert_acknowledgements.acknowledged_at
    RETURNING acknowledged_at`.execute(db);
  return rows[0]?.acknowledged_at;
}
