import { sql, type Selectable } from "kysely";
import type { Database } from "../database.ts";
import { type Page, type Paged, pageOfRows } from "../records/paging.ts";
import type { AlertTable } from "../tables/policies.ts";

export type AlertRow = Selectable<AlertTable>;

export interface AlertFilters {
  readonly group_id?: string | undefined;
  readonly resolved?: boolean | undefined;
}

/** Newest first; a null tenant means all. */
export async function alertPage(db: Database, tenantId: string | null, filters: AlertFilters, page: Page): Promise<Paged<AlertRow>> {
  let query = db.selectFrom("alerts");
  if (tenantId !== null) query = query.where("tenant_id", "=", tenantId);
  if (filters.group_id !== undefined) query = query.where("group_id", "=", filters.group_id);
  if (filters.resolved !== undefined) query = query.where("resolved", "=", filters.resolved);
  return pageOfRows(query, query.selectAll().orderBy("id", "desc"), page);
}

export async function alertById(db: Database, tenantId: string, id: string): Promise<AlertRow | undefined> {
  return db.selectFrom("alerts").selectAll().where("tenant_id", "=", tenantId).where("id", "=", id).executeTakeFirst();
}

/** Deletes alerts from before that time that are resolved or have no window. Returns how many. */
export async function pruneAlerts(db: Database, tenantId: string, before: Date): Promise<number> {
  const { numAffectedRows } =
    await sql`DELETE FROM alerts WHERE tenant_id = ${tenantId} AND id < audit_id_floor(${before}) AND (resolved OR expires_at IS NULL)`.execute(
      db,
    );
  return Number(numAffectedRows ?? 0);
}

/** Resolves alerts whose window has ended. */
export async function resolveExpired(db: Database): Promise<void> {
  await sql`UPDATE alerts SET resolved = true, resolved_at = expires_at WHERE NOT resolved AND expires_at < now()`.execute(db);
}
