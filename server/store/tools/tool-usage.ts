import { sql } from "kysely";
import type { Database } from "../database.ts";
import { SURVIVING_GROUP, SURVIVING_GROUPS } from "../usage/usage-totals.ts";

/** How often a group itself used `item` in the current hour, or earlier that day. */
export interface HourlyCount {
  readonly resource_group_id: string;
  /** The tool server called, or the model asked; null for any. */
  readonly item: string | null;
  /** Start of the hour or day, in milliseconds since the epoch. */
  readonly hour: number;
  readonly count: number;
}

/**
 * What tool usage needs of a row of `audit_rows a`: whether it was sent to a tool server and named one of its capabilities, or gave an
 * agent something to do.
 */
export const TOOL_FACTS = `a.server_id, a.source IS DISTINCT FROM 'otel' AND (a.proxy_type IN ('mcp', 'virtual_mcp') OR a.proxy_subtype = 'mcp_app_resource')
    AND a.server_id IS NOT NULL AND a.target_url IS NOT NULL AND a.mcp_method IS DISTINCT FROM 'completion/complete' AND (a.mcp_capability_name IS NOT NULL OR (a.mcp_method IS NULL AND a.http_method <> 'GET'))
    OR (a.proxy_type = 'a2a' AND a.source IS DISTINCT FROM 'otel' AND a.server_id IS NOT NULL AND a.target_url IS NOT NULL AND a.current_task_id IS NOT NULL) AS of_tools`;

/** One more CTE, which adds the rows of `shipped`, a CTE of facts. In key order, like the other usage. */
export const ADD_TOOL_USAGE = `
  tools AS (
    INSERT INTO tool_usage_hourly
    SELECT tenant_id, date_trunc('hour', timestamp, 'UTC'), coalesce(resource_group_id, ''), server_id, count(*)
    FROM shipped WHERE of_tools GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
    ON CONFLICT (tenant_id, hour, resource_group_id, server_id) DO UPDATE SET calls = tool_usage_hourly.calls + excluded.calls)`;

const dayOf = (at: number) => sql`date_trunc('day', ${new Date(at)}::timestamptz, 'UTC')`;
export const IN_DAY = (at: number) => sql`hour >= ${dayOf(at)} AND hour < ${dayOf(at)} + interval '1 day'`;
/** Limit windows are hours and days, so the earlier hours of the day need not be told apart. */
export const HOUR_OR_DAY = (at: number) =>
  sql`floor(extract(epoch FROM CASE WHEN hour >= date_trunc('hour', ${new Date(at)}::timestamptz, 'UTC') THEN hour ELSE ${dayOf(at)} END) * 1000)::bigint`;

/** Tool server calls in the UTC day of `at`, in milliseconds since the epoch. */
export async function toolUsageOfDay(db: Database, tenantId: string, at: number): Promise<HourlyCount[]> {
  const { rows } = await sql<HourlyCount>`
    SELECT ${sql.raw(SURVIVING_GROUP)} AS resource_group_id, server_id AS item, ${HOUR_OR_DAY(at)} AS hour, sum(calls)::bigint AS count
    FROM tool_usage_hourly u ${sql.raw(SURVIVING_GROUPS)} WHERE u.tenant_id = ${tenantId} AND ${IN_DAY(at)} GROUP BY GROUPING SETS ((1, 2, 3), (1, 3))`.execute(
    db,
  );
  return rows;
}

/** Tool results that model requests carried, in the UTC day of `at`. */
export async function toolResultsOfDay(db: Database, tenantId: string, at: number): Promise<HourlyCount[]> {
  const { rows } = await sql<HourlyCount>`
    SELECT ${sql.raw(SURVIVING_GROUP)} AS resource_group_id, nullif(model_id, '') AS item, ${HOUR_OR_DAY(at)} AS hour, sum(results)::bigint AS count
    FROM tool_results_hourly u ${sql.raw(SURVIVING_GROUPS)} WHERE u.tenant_id = ${tenantId} AND ${IN_DAY(at)} GROUP BY 1, 2, 3`.execute(db);
  return rows;
}
