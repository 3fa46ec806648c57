import { pageOfRows } from "../records/paging.ts";
import type { Insertable, Selectable, Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { findInTenant, type RecordStore, writesById } from "../records/record-store.ts";
import type { IncidentWindowTable } from "../tables/drift.ts";

export type WindowRow = Selectable<IncidentWindowTable>;
export type WindowInsert = Insertable<IncidentWindowTable>;
export type WindowPatch = Updateable<IncidentWindowTable>;

/** With a system: its own windows and those of the tenant. Without one: all. */
interface WindowFilters {
  readonly systemId?: string | undefined;
}

export const incidentWindowStore: RecordStore<WindowRow, WindowInsert, WindowPatch, WindowFilters> = {
  async page(db, tenantId, { systemId }, page) {
    let query = db.selectFrom("incident_windows").where("tenant_id", "=", tenantId);
    if (systemId !== undefined) query = query.where((eb) => eb.or([eb("ai_system_id", "is", null), eb("ai_system_id", "=", systemId)]));
    return pageOfRows(query, query.selectAll().orderBy("started_at", "desc").orderBy("id"), page);
  },
  find: findInTenant("incident_windows"),
  ...writesById("incident_windows"),
};

/** All windows that apply to a system. */
export function windowsOfSystem(db: Database | Trx, tenantId: string, systemId: string): Promise<WindowRow[]> {
  return db
    .selectFrom("incident_windows")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where((eb) => eb.or([eb("ai_system_id", "is", null), eb("ai_system_id", "=", systemId)]))
    .execute();
}

const MAX_LISTED = 10;

/** A few of the system's own windows (not the tenant's) that have no end, or one in the future. */
export function openWindowsOf(db: Database | Trx, tenantId: string, systemId: string, now: Date): Promise<Pick<WindowRow, "title">[]> {
  return db
    .selectFrom("incident_windows")
    .select("title")
    .where("tenant_id", "=", tenantId)
    .where("ai_system_id", "=", systemId)
    .where((eb) => eb.or([eb("ended_at", "is", null), eb("ended_at", ">", now)]))
    .orderBy("started_at")
    .limit(MAX_LISTED)
    .execute();
}
