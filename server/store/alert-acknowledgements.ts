import { sql } from "kysely";
import type { AlertRow } from "./alerts.ts";
import type { Database } from "./database.ts";
import type { Page, Paged } from "./paging.ts";

export type AlertOfUserRow = AlertRow & { readonly acknowledged_at: Date | null };

/** Alerts of these groups, newest first, each with when this user acknowledged it. */
export async function alertsOfGroups(
  db: Database,
  tenantId: string,
  groupIds: readonly string[],
  userId: string,
  page: Page,
): Promise<Paged<AlertOfUserRow>> {
  if (groupIds.length === 0) return { items: [], total: 0 };
  const query = db
    .selectFrom("alerts as a")
    .leftJoin("alert_acknowledgements as k", (join) => join.onRef("k.alert_id", "=", "a.id").on("k.end_user_id", "=", userId))
    .where("a.tenant_id", "=", tenantId)
    .where("a.group_id", "in", groupIds);
  const items = await query
    .selectAll("a")
    .select("k.acknowledged_at")
    .orderBy("a.id", "desc")
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  const { total } = await query.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
  return { items, total };
}

/** When each of these users who did acknowledged the alert. */
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

/** When the user acknowledged the alert, now or before; undefined when none of these groups has it. */
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
