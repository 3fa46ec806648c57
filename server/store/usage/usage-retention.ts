import { sql } from "kysely";
import type { Database } from "../database.ts";

/** Limits of tools and skills look at a day, and some rows arrive late. */
const TOOL_DAYS = 2;
/** Limits of models look at a month. */
const MONTH_DAYS = 32;

/** Removes of a tenant's usage what was written down for limits and no limit asks for any more. */
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
