import { type Insertable, type Selectable, sql, type Updateable } from "kysely";
import type { Database, Trx } from "./database.ts";
import type { UsageImportSettingsTable } from "./tables/usage-import.ts";

export type UsageImportSettingsRow = Selectable<UsageImportSettingsTable>;

/** Null of settings that were never written. The day is read as text. */
export async function usageImportSettings(
  db: Database | Trx,
  tenantId: string,
  providerIds: readonly string[],
  lock?: "lock",
): Promise<ReadonlyMap<string, UsageImportSettingsRow>> {
  const query = db
    .selectFrom("usage_import_settings")
    .selectAll()
    .select(sql<string | null>`import_backfill_through::text`.as("import_backfill_through"))
    .where("tenant_id", "=", tenantId)
    .where("provider_id", "in", [...providerIds, "00000000-0000-0000-0000-000000000000"]);
  const rows = await (lock === undefined ? query : query.forUpdate()).execute();
  return new Map(rows.map((row) => [row.provider_id, row as UsageImportSettingsRow]));
}

export async function writeUsageImportSettings(
  trx: Trx,
  values: Insertable<UsageImportSettingsTable>,
  patch: Updateable<UsageImportSettingsTable>,
): Promise<void> {
  await trx
    .insertInto("usage_import_settings")
    .values(values)
    .onConflict((conflict) => conflict.column("provider_id").doUpdateSet(patch))
    .execute();
}

export interface DueImport {
  readonly provider_id: string;
  readonly tenant_id: string;
  readonly import_schedule_cron: string;
  readonly import_backfill_through: string | null;
}

/** Takes those whose time has come, each for one process alone until the transaction ends. */
export async function lockDueImports(trx: Trx, now: Date, limit: number): Promise<DueImport[]> {
  const { rows } = await sql<DueImport>`
    SELECT provider_id, tenant_id, import_schedule_cron, import_backfill_through::text AS import_backfill_through
      FROM usage_import_settings WHERE import_enabled AND next_run_at <= ${now} ORDER BY next_run_at LIMIT ${limit} FOR UPDATE SKIP LOCKED`.execute(
    trx,
  );
  return rows;
}

export async function setNextImport(trx: Trx, providerId: string, at: Date | null): Promise<void> {
  await trx.updateTable("usage_import_settings").set({ next_run_at: at }).where("provider_id", "=", providerId).execute();
}

/** Never back: what was read once stays read until somebody sets it back. */
export async function moveBackfillThrough(trx: Trx, providerId: string, day: string): Promise<void> {
  await sql`UPDATE usage_import_settings SET import_backfill_through = greatest(import_backfill_through, ${day}::date) WHERE provider_id = ${providerId}`.execute(
    trx,
  );
}
