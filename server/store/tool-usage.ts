import { sql } from "kysely";
import type { Database } from "./database.ts";

/** How often a group itself called a tool server in one hour. */
export interface ToolUsage {
  readonly resource_group_id: string;
  readonly server_id: string;
  /** Milliseconds since the epoch. */
  readonly hour: number;
  readonly calls: number;
}

/**
 * Adds shipped rows up: calls that left for a tool server and named something of it. Like the other usage, in the order
 * of the key. `which` says which rows.
 */
export const ADD_TOOL_USAGE = (which: string) => `
  INSERT INTO tool_usage_hourly
  SELECT tenant_id, date_trunc('hour', timestamp, 'UTC'), coalesce(resource_group_id, ''), server_id, count(*)
  FROM audit_rows a WHERE ${which} AND source IS DISTINCT FROM 'otel' AND (proxy_type IN ('mcp', 'virtual_mcp') OR proxy_subtype = 'mcp_app_resource') AND tenant_id IS NOT NULL AND timestamp IS NOT NULL
    AND server_id IS NOT NULL AND target_url IS NOT NULL AND mcp_method IS DISTINCT FROM 'completion/complete' AND (mcp_capability_name IS NOT NULL OR (mcp_method IS NULL AND http_method <> 'GET'))
  GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
  ON CONFLICT (tenant_id, hour, resource_group_id, server_id) DO UPDATE SET calls = tool_usage_hourly.calls + excluded.calls`;

/** Of the day of `at`, milliseconds. Days are UTC. */
export async function toolUsageOfDay(db: Database, tenantId: string, at: number): Promise<ToolUsage[]> {
  const { rows } = await sql<ToolUsage>`
    SELECT resource_group_id, server_id, floor(extract(epoch FROM hour) * 1000)::bigint AS hour, calls
    FROM tool_usage_hourly
    WHERE tenant_id = ${tenantId} AND hour >= date_trunc('day', ${new Date(at)}::timestamptz, 'UTC') AND hour < date_trunc('day', ${new Date(at)}::timestamptz, 'UTC') + interval '1 day'`.execute(db);
  return rows;
}
