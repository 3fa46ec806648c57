import type { AlertRow } from "./alerts.ts";
import type { Database } from "../database.ts";
import { type Page, type Paged, pageOfRows } from "../records/paging.ts";

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
  return pageOfRows(query, query.selectAll("a").select("k.acknowledged_at").orderBy("a.id", "desc"), page);
}
