import { type Insertable, type Selectable, sql, type Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import type { UsageImportSettingsTable } from "../tables/usage-import.ts";

export type UsageImportSettingsRow = Selectable<UsageImportSettingsTable>;

/** Null fields if the settings were never written. The day is read as text. */
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

/** Never moves back, and not if the day was set back to before `readFrom` meanwhile: the gap is left to the next run. */
export async function moveBackfillThrough(
  trx: Trx,
  providerId: string,
  { readFrom, day }: { readFrom: string; day: string },
): Promise<void> {
  await sql`
    UPDATE usage_import_settings SET import_backfill_through = greatest(import_backfill_through, ${day}::date)
     WHERE provider_id = ${providerId} AND coalesce(import_backfill_through >= ${readFrom}::date, true)`.execute(trx);
}
