import { sql } from "kysely";
import type { Trx } from "../database.ts";

export interface DueImport {
  readonly provider_id: string;
  readonly tenant_id: string;
  readonly import_schedule_cron: string;
  readonly import_backfill_through: string | null;
}

/** Due imports, oldest first, each locked for this process until the transaction ends. */
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
