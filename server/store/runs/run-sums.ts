import { sql } from "kysely";
import type { Database } from "../database.ts";
import { RUN_TOTALS } from "./run-totals.ts";

/** Totals of runs and their calls by the hours or days in which the runs started. */
export interface RunSums extends Readonly<Record<(typeof RUN_TOTALS)[number], number>> {
  /** Start of the hour or day, ISO 8601 UTC; null for a whole window. */
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
  ...RUN_TOTALS,
];

const SUMS = sql.raw(
  `${SUMMED.map((name) => `coalesce(sum(${name}), 0)::bigint AS ${name}`).join(", ")}, coalesce(max(longest), 0) AS longest`,
);

/** One total for the window, or one for each hour or day in it that has runs. The window must be whole hours. */
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
