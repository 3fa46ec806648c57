import { sql } from "kysely";
import type { Database } from "../database.ts";

/** Limits on tools and skills look back a day, and some rows arrive late. */
const TOOL_DAYS = 2;
/** Limits on models look back a month. */
const MONTH_DAYS = 32;

/** Deletes usage that was kept for limits and that no limit reads any more. */
export async function pruneUsage(db: Database, tenantId: string, now: Date): Promise<void> {
  const before = (days: number) => new Date(now.getTime() - days * 86_400_000);
  await sql`
    WITH calls AS (DELETE FROM tool_usage_hourly WHERE tenant_id = ${tenantId} AND hour < ${before(TOOL_DAYS)}),
      skills AS (DELETE FROM skill_usage_hourly WHERE tenant_id = ${tenantId} AND hour < ${before(TOOL_DAYS)}),
      results AS (DELETE FROM tool_results_hourly WHERE tenant_id = ${tenantId} AND hour < ${before(TOOL_DAYS)})
    DELETE FROM model_usage_daily WHERE tenant_id = ${tenantId} AND day < (${before(MONTH_DAYS)}::timestamptz AT TIME ZONE 'UTC')::date`.execute(
    db,
  );
}
