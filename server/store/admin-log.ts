import type { Insertable, Selectable } from "kysely";
import type { Database, Trx } from "./database.ts";
import type { Page, Paged } from "./paging.ts";
import type { AdminLogTable } from "./schema.ts";

export type AdminLogRow = Selectable<AdminLogTable>;

export interface AdminLogFilters {
  readonly resource?: string | undefined;
  readonly resource_id?: string | undefined;
  readonly action?: string | undefined;
  readonly actor_id?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export async function appendAdminLog(db: Database | Trx, entries: readonly Insertable<AdminLogTable>[]): Promise<void> {
  if (entries.length > 0) await db.insertInto("admin_log").values([...entries]).execute();
}

/** Newest first; a null tenant means all. */
export async function adminLogPage(db: Database, tenantId: string | null, filters: AdminLogFilters, page: Page): Promise<Paged<AdminLogRow>> {
  let query = db.selectFrom("admin_log");
  if (tenantId !== null) query = query.where("tenant_id", "=", tenantId);
  if (filters.resource !== undefined) query = query.where("resource", "=", filters.resource);
  if (filters.resource_id !== undefined) query = query.where("resource_id", "=", filters.resource_id);
  if (filters.action !== undefined) query = query.where("action", "=", filters.action);
  if (filters.actor_id !== undefined) query = query.where("actor_id", "=", filters.actor_id);
  if (filters.from !== undefined) query = query.where("at", ">=", new Date(filters.from));
  if (filters.to !== undefined) query = query.where("at", "<", new Date(filters.to));
  const items = await query.selectAll().orderBy("id", "desc").limit(page.limit).offset(page.offset).execute();
  const { total } = await query.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
  return { items, total };
}
