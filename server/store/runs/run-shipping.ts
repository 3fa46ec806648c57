import type pg from "pg";
import { HAPPENED_AT, IS_ACTION, RUN_FACTS } from "./run-facts.ts";
import { RUN_TOTALS } from "./run-totals.ts";

/**
 * Adds newly stored audit rows to the runs they belong to, inside the transaction that stored them.
 */

/** Aggregates over judged facts (see below): `RUN_TOTALS`, then whether the run is degraded. */
const SUMS = `
  count(*) FILTER (WHERE counted), count(*) FILTER (WHERE counted AND a.asks_model), count(*) FILTER (WHERE counted AND a.tool),
  count(*) FILTER (WHERE counted AND a.tool AND a.failed_tool), count(*) FILTER (WHERE counted AND a.success IS FALSE),
  count(*) FILTER (WHERE a.late),
  count(*) FILTER (WHERE counted AND a.source = 'gateway' AND a.trace_continuity = 'client_asserted'),
  count(*) FILTER (WHERE counted AND a.source = 'gateway' AND a.trace_continuity IN ('minted', 'verified')),
  count(*) FILTER (WHERE counted AND a.source = 'otel'),
  coalesce(sum(a.prompt_tokens) FILTER (WHERE counted), 0), coalesce(sum(a.completion_tokens) FILTER (WHERE counted), 0),
  coalesce(sum(a.cost_micro_usd) FILTER (WHERE counted), 0), count(*) FILTER (WHERE counted AND a.unpriced),
  coalesce(bool_or(a.degraded) FILTER (WHERE counted), false)`;

/** Facts with `late`, as `a` with `counted` added. A span that joined a call of the gateway reports that call again and is not counted. */
const JUDGED = (facts: string) => `(SELECT j.*, NOT j.late AND NOT j.joined AS counted FROM (${facts}) j) a`;

// The value of the last or first row in an order. Ordered aggregates would sort for each run, and most runs have one row; comparing text
// that sorts in the same order costs only where there are more.
const IN_ORDER = (moment: string, value: string) => `ARRAY[${moment}, a.id, ${value}] COLLATE "C"`;
const newest = (value: string, which: string) => `(max(${IN_ORDER("a.moment", value)}) FILTER (WHERE ${which}))[3]`;
const DECIDING = "NOT a.late AND a.decides";
/** The row that decides the run's result: its time, ID and state. */
const LAST = `max(a.timestamp) FILTER (WHERE ${DECIDING}), (max(${IN_ORDER("a.moment", "a.result")}) FILTER (WHERE ${DECIDING}))[2], ${newest("a.result", DECIDING)}`;

/** Identifies a run across tenants: no tenant ID contains a space. */
const RUN_KEY = "tenant_id || ' ' || root_task_id";

const ENDS_IT = "a.run_end_state IS NOT NULL AND NOT a.late";
const END_STATE =
  `(min(${IN_ORDER("to_char(a.created_at AT TIME ZONE 'UTC', 'YYYYMMDDHH24MISSUS')", "a.run_end_state")}) FILTER (WHERE ` +
  `${ENDS_IT}))[3]`;
const ENDED_AT = `min(a.created_at) FILTER (WHERE ${ENDS_IT})`;

/**
 * CTEs that add the rows of `shipped`, a CTE of facts, to their runs. `closed_runs` names the runs with rows here that are over, and
 * whether calls were counted that came after the end.
 *
 * Existing runs are locked in key order before any is written, so that writers cannot deadlock and a run that is ended meanwhile is seen as
 * ended. `ends` holds the end times of closed runs as one value, mostly null, because the planner might join two lists of unknown length as
 * their product.
 */
export const ADD_TO_RUNS = `
  known AS MATERIALIZED (
    SELECT k.tenant_id, k.root_task_id, r.closed_at
    FROM (SELECT DISTINCT tenant_id, root_task_id FROM shipped WHERE of_run ORDER BY tenant_id, root_task_id) k
    CROSS JOIN LATERAL (SELECT closed_at FROM runs WHERE runs.tenant_id = k.tenant_id AND runs.root_task_id = k.root_task_id FOR UPDATE) r
  ), ends AS MATERIALIZED (
    SELECT jsonb_object_agg(${RUN_KEY}, coalesce(closed_at, ended_at)) AS times FROM (
      SELECT tenant_id, root_task_id, max(closed_at) AS closed_at, min(created_at) AS ended_at FROM (
        SELECT tenant_id, root_task_id, closed_at, NULL AS created_at FROM known WHERE closed_at IS NOT NULL
        UNION ALL SELECT tenant_id, root_task_id, NULL, created_at FROM shipped WHERE of_run AND run_end_state IS NOT NULL) each
      GROUP BY tenant_id, root_task_id) run
  ), judged AS MATERIALIZED (
    SELECT * FROM ${JUDGED(
      `SELECT *, (SELECT times FROM ends) IS NOT NULL AND coalesce(timestamp > ((SELECT times FROM ` +
        `ends)->>(${RUN_KEY}))::timestamptz, false) AS late FROM shipped WHERE of_run OFFSET 0`,
    )}
  ), added AS (
    INSERT INTO runs AS r (tenant_id, root_task_id, run_id, resource_group_id, participants, state, state_source, outcome, started_at, last_at, decided_at, last_id, last_result, active_at, ended_at, closed_at,
      ${RUN_TOTALS.join(", ")}, degraded)
    SELECT a.tenant_id, a.root_task_id,
      max(a.run_id),
      coalesce((min(${IN_ORDER("a.moment", "a.resource_group_id")}))[3], ''),
      CASE WHEN min(a.participant) = max(a.participant) THEN ARRAY[min(a.participant)] ELSE coalesce((SELECT array_agg(DISTINCT p) FROM unnest(array_agg(a.participant)) p WHERE p IS NOT NULL), '{}') END,
      coalesce(${END_STATE}, 'open'), CASE WHEN ${END_STATE} IS NOT NULL THEN 'client' END,
      ${newest("a.outcome", "NOT a.late AND a.told_outcome")},
      min(a.timestamp), max(a.timestamp) FILTER (WHERE NOT a.late), ${LAST},
      max(a.created_at), ${ENDED_AT}, ${ENDED_AT}, ${SUMS}
    FROM judged a
    GROUP BY a.tenant_id, a.root_task_id ORDER BY a.tenant_id, a.root_task_id
    ON CONFLICT (tenant_id, root_task_id) DO UPDATE SET
      run_id = coalesce(r.run_id, excluded.run_id),
      participants = CASE WHEN r.participants @> excluded.participants THEN r.participants ELSE (SELECT array_agg(DISTINCT p) FROM unnest(r.participants || excluded.participants) p) END,
      state = CASE WHEN r.state = 'open' THEN excluded.state ELSE r.state END,
      state_source = coalesce(r.state_source, excluded.state_source),
      outcome = CASE WHEN r.state = 'open' THEN coalesce(excluded.outcome, r.outcome) ELSE coalesce(r.outcome, excluded.outcome) END,
      started_at = least(r.started_at, excluded.started_at),
      last_id = CASE WHEN excluded.decided_at >= coalesce(r.decided_at, excluded.decided_at) THEN excluded.last_id ELSE r.last_id END,
      last_result = CASE WHEN excluded.decided_at >= coalesce(r.decided_at, excluded.decided_at) THEN excluded.last_result ELSE r.last_result END,
      last_at = greatest(r.last_at, excluded.last_at),
      decided_at = greatest(r.decided_at, excluded.decided_at),
      active_at = greatest(r.active_at, excluded.active_at),
      ended_at = coalesce(r.ended_at, excluded.ended_at),
      closed_at = coalesce(r.closed_at, excluded.closed_at),
      ${RUN_TOTALS.map((name) => `${name} = r.${name} + excluded.${name}`).join(", ")},
      degraded = r.degraded OR excluded.degraded
    RETURNING tenant_id, root_task_id, closed_at, last_at
  ), closed_runs AS (SELECT tenant_id, root_task_id, last_at > closed_at AS over FROM added WHERE closed_at IS NOT NULL)`;

const TAG_LATE = `
  WITH tagged AS (
    UPDATE audit_rows a SET tags = coalesce(a.tags, '[]') || '["late"]'
    FROM runs r JOIN unnest($1::text[], $2::text[]) AS k (tenant_id, root_task_id) USING (tenant_id, root_task_id)
    WHERE a.tenant_id = r.tenant_id AND a.root_task_id = r.root_task_id AND ${HAPPENED_AT} > r.closed_at
      AND ${IS_ACTION} AND NOT coalesce(a.tags, '[]') @> '["late"]'
    RETURNING a.id)
  INSERT INTO audit_late_rows SELECT id FROM tagged ON CONFLICT DO NOTHING`;

// When one writer ends a run, another may already have counted later calls of it: such a run is recomputed.
const ADD_UP_ANEW = `
  UPDATE runs r SET (last_at, decided_at, last_id, last_result, ${RUN_TOTALS.join(", ")}, degraded) = (
    SELECT max(a.timestamp) FILTER (WHERE NOT a.late), ${LAST}, ${SUMS}
    FROM ${JUDGED(
      `SELECT ${RUN_FACTS}, ${HAPPENED_AT} > r.closed_at AS late FROM audit_rows a WHERE a.tenant_id = r.tenant_id AND ` +
        `a.root_task_id = r.root_task_id AND a.timestamp IS NOT NULL AND ${IS_ACTION}`,
    )})
  FROM unnest($1::text[], $2::text[]) AS k (tenant_id, root_task_id)
  WHERE r.tenant_id = k.tenant_id AND r.root_task_id = k.root_task_id`;

export interface ClosedRun {
  readonly tenant_id: string;
  readonly root_task_id: string;
  readonly over: boolean | null;
}

/** Marks the late rows of runs that `ADD_TO_RUNS` found closed, and corrects runs that ended earlier than was known. */
export async function settleClosedRuns(client: pg.PoolClient, closed: readonly ClosedRun[]): Promise<void> {
  if (closed.length === 0) return;
  await client.query(TAG_LATE, keysOf(closed));
  const over = closed.filter((run) => run.over === true);
  if (over.length > 0) await client.query(ADD_UP_ANEW, keysOf(over));
}

function keysOf(runs: readonly ClosedRun[]): [string[], string[]] {
  return [runs.map((run) => run.tenant_id), runs.map((run) => run.root_task_id)];
}
