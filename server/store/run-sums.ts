import { sql } from "kysely";
import type { Database } from "./database.ts";

/** Runs and their calls summed over the hours or days in which the runs started. */
export interface RunSums {
  /** Start of the hour or day, ISO 8601 UTC; null over a whole window. */
  readonly at: string | null;
  readonly runs: number;
  readonly open: number;
  readonly completed: number;
  readonly completed_degraded: number;
  readonly exhausted: number;
  readonly errored: number;
  readonly blocked_policy: number;
  readonly cancelled: number;
  readonly ended_by_client: number;
  readonly resolved: number;
  readonly escalated: number;
  readonly handed_off: number;
  readonly abandoned_by_user: number;
  readonly calls: number;
  readonly llm_calls: number;
  readonly tool_calls: number;
  readonly tool_errors: number;
  readonly errors: number;
  readonly late_calls: number;
  readonly asserted_calls: number;
  readonly intact_calls: number;
  readonly external_calls: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cost_micro_usd: number;
  readonly unpriced_calls: number;
  readonly longest: number;
}

const SUMMED = [
  "runs",
  "open",
  "completed",
  "completed_degraded",
  "exhausted",
  "errored",
  "blocked_policy",
  "cancelled",
  "ended_by_client",
  "resolved",
  "escalated",
  "handed_off",
  "abandoned_by_user",
  "calls",
  "llm_calls",
  "tool_calls",
  "tool_errors",
  "errors",
  "late_calls",
  "asserted_calls",
  "intact_calls",
  "external_calls",
  "prompt_tokens",
  "completion_tokens",
  "cost_micro_usd",
  "unpriced_calls",
];

const SUMS = sql.raw(
  `${SUMMED.map((name) => `coalesce(sum(${name}), 0)::bigint AS ${name}`).join(", ")}, coalesce(max(longest), 0) AS longest`,
);

/** One sum over the window, or one for each hour or day in it that has runs. Whole hours only. */
export async function runSums(
  db: Database,
  tenantId: string,
  groupId: string,
  window: { readonly from: string; readonly to: string },
  bucket: "hour" | "day" | null,
): Promise<RunSums[]> {
  const at =
    bucket === null
      ? sql`NULL`
      : sql`to_char(date_trunc(${sql.lit(bucket)}, hour, 'UTC') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;
  const { rows } = await sql<RunSums>`
    SELECT ${at} AS at, ${SUMS} FROM run_hourly
    WHERE tenant_id = ${tenantId} AND resource_group_id = ${groupId} AND hour >= date_trunc('hour', ${window.from}::timestamptz, 'UTC') AND hour < ${window.to}::timestamptz
    ${bucket === null ? sql`` : sql`GROUP BY 1 ORDER BY 1`}`.execute(db);
  return rows;
}
