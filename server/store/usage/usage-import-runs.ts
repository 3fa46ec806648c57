import { type Insertable, type Selectable, sql } from "kysely";
import type { Database, Trx } from "../database.ts";
import { type Page, type Paged, totalOf } from "../records/paging.ts";
import type { UsageImportRunTable } from "../tables/usage-import.ts";

export type UsageImportRunRow = Selectable<UsageImportRunTable>;

const COLUMNS = sql.raw(
  "*, from_day::text AS from_day, to_day::text AS to_day, cost_nano_usd::text AS cost_nano_usd, difference_nano_usd::text AS difference_nano_usd",
);

/** Newest first. */
export async function usageImportRunPage(
  db: Database,
  tenantId: string,
  providerId: string,
  page: Page,
): Promise<Paged<UsageImportRunRow>> {
  const { rows: items } = await sql<UsageImportRunRow>`
    SELECT ${COLUMNS} FROM usage_import_runs WHERE tenant_id = ${tenantId} AND provider_id = ${providerId}
     ORDER BY started_at DESC, id LIMIT ${page.limit} OFFSET ${page.offset}`.execute(db);
  const all = db.selectFrom("usage_import_runs").where("tenant_id", "=", tenantId).where("provider_id", "=", providerId);
  return { items, total: await totalOf(all) };
}

/** The unfinished run, of which there is at most one, locked. */
export async function openUsageImportRun(trx: Trx, providerId: string): Promise<UsageImportRunRow | undefined> {
  const { rows } = await sql<UsageImportRunRow>`
    SELECT ${COLUMNS} FROM usage_import_runs WHERE provider_id = ${providerId} AND finished_at IS NULL FOR UPDATE`.execute(trx);
  return rows[0];
}

export async function insertUsageImportRun(trx: Trx, values: Insertable<UsageImportRunTable>): Promise<void> {
  await trx.insertInto("usage_import_runs").values(values).execute();
}

export async function hastenUsageImportRun(trx: Trx, id: string, now: Date): Promise<void> {
  await trx.updateTable("usage_import_runs").set({ resume_at: now, attempts: 0 }).where("id", "=", id).execute();
}

/** Leases a waiting run, or one whose process is gone; undefined if there is none. */
export async function leaseUsageImportRun(db: Database, lease: string, now: Date, until: Date): Promise<UsageImportRunRow | undefined> {
  const { rows } = await sql<UsageImportRunRow>`
    UPDATE usage_import_runs SET status = 'running', lease = ${lease}, lease_until = ${until} WHERE id = (
      SELECT id FROM usage_import_runs WHERE finished_at IS NULL AND resume_at <= ${now} AND (lease_until IS NULL OR lease_until < ${now})
       ORDER BY resume_at LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING ${COLUMNS}`.execute(db);
  return rows[0];
}
