import type pg from "pg";
import { prepared } from "./prepared.ts";

/**
 * Adds newly stored audit rows to the runs they belong to, inside the transaction that stored them. Rows are named by
 * `which`, a condition on `audit_rows a`.
 */

/** As text: a `Date` would lose the microseconds. */
const CLOSED_AT = `to_char(r.closed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** Calls about a run, about many, and of a person about themselves: they are recorded, and are no action of any run. */
const IS_ACTION = "coalesce(a.proxy_subtype, '') NOT IN ('run_end', 'run_inspect', 'otel_traces') AND a.proxy_type IS DISTINCT FROM 'portal'";

/** What a run would end as if this row were its last. */
const RESULT = `CASE
    WHEN a.success THEN 'completed'
    WHEN a.error_type = 'run_ceiling_reached' THEN 'exhausted'
    WHEN a.error_type = 'client_disconnected' THEN 'cancelled'
    WHEN a.guardrail_blocked OR a.argument_policy_denied OR a.residency_class = 'blocked' OR a.agent_authz_decision IN ('deny', 'approval_required')
      OR (a.http_status_code IN (403, 429) AND a.error_type NOT LIKE 'upstream%') THEN 'blocked_policy'
    ELSE 'errored' END`;

// In the order of the key, and before anything is read: no later statement takes the lock of another run, so writers
// cannot deadlock, and a run that somebody ends meanwhile is seen as ended.
const LOCK = (which: string) => `
  SELECT r.tenant_id, r.root_task_id, ${CLOSED_AT} AS closed_at
  FROM runs r JOIN (SELECT DISTINCT a.tenant_id, a.root_task_id FROM audit_rows a WHERE ${which} AND a.tenant_id IS NOT NULL AND a.root_task_id IS NOT NULL) b USING (tenant_id, root_task_id)
  ORDER BY r.tenant_id, r.root_task_id FOR UPDATE OF r`;

/** Sums over rows that are judged (below), as the columns of a run. */
const SUMS = `
  count(*) FILTER (WHERE counted), count(*) FILTER (WHERE counted AND a.proxy_type = 'llm'), count(*) FILTER (WHERE counted AND tool),
  count(*) FILTER (WHERE counted AND tool AND a.success IS FALSE), count(*) FILTER (WHERE counted AND a.success IS FALSE),
  count(*) FILTER (WHERE a.late),
  count(*) FILTER (WHERE counted AND a.source = 'gateway' AND a.trace_continuity = 'client_asserted'),
  count(*) FILTER (WHERE counted AND a.source = 'gateway' AND a.trace_continuity IN ('minted', 'verified')),
  count(*) FILTER (WHERE counted AND a.source = 'otel'),
  coalesce(sum(a.llm_prompt_tokens) FILTER (WHERE counted), 0), coalesce(sum(a.llm_completion_tokens) FILTER (WHERE counted), 0),
  coalesce(sum(round(a.llm_estimated_cost_usd * 1000000)) FILTER (WHERE counted), 0),
  count(*) FILTER (WHERE counted AND a.llm_estimated_cost_usd IS NULL AND coalesce(a.llm_total_tokens, a.llm_prompt_tokens, a.llm_completion_tokens) > 0),
  coalesce(bool_or(a.llm_used_fallback OR a.guardrails_skipped) FILTER (WHERE counted), false)`;

const SUM_COLUMNS = ["calls", "llm_calls", "tool_calls", "tool_errors", "errors", "late_calls", "asserted_calls", "intact_calls", "external_calls", "prompt_tokens", "completion_tokens", "cost_micro_usd", "unpriced_calls"] as const;

/** `a` with `late`, `counted` and `tool`. A span that joined a call of the gateway is that call told again. */
const JUDGED = (rows: string) => `(SELECT j.*, NOT j.late AND j.custom_metadata->'joined_row_id' IS NULL AS counted, j.proxy_type IN ('mcp', 'virtual_mcp', 'skill', 'a2a') AS tool FROM (${rows}) j) a`;

// The value of the row that comes last or first in an order. Aggregates that order for themselves would sort for each
// run anew, and most runs have one row; text that sorts as the order does is compared only where there are more.
const IN_ORDER = (time: string, value: string) => `ARRAY[to_char(a.${time} AT TIME ZONE 'UTC', 'YYYYMMDDHH24MISSUS'), a.id, ${value}] COLLATE "C"`;
const newest = (value: string, which = "NOT a.late") => `(max(${IN_ORDER("timestamp", value)}) FILTER (WHERE ${which}))[3]`;
const LAST_ID = `(max(${IN_ORDER("timestamp", RESULT)}) FILTER (WHERE NOT a.late))[2]`;

const ENDS_IT = "a.run_end_state IS NOT NULL AND NOT a.late";
const END_STATE = `(min(${IN_ORDER("created_at", "a.run_end_state")}) FILTER (WHERE ${ENDS_IT}))[3]`;
const ENDED_AT = `min(a.created_at) FILTER (WHERE ${ENDS_IT})`;

// What is needed of a row, and not its bodies: they would be sorted along.
const NEEDED = ["id", "tenant_id", "root_task_id", "timestamp", "created_at", "proxy_type", "source", "success", "error_type", "http_status_code", "api_key_id", "gateway_user_id", "resource_group_id", "request_headers", "trace_continuity", "run_end_state", "custom_metadata", "guardrail_blocked", "argument_policy_denied", "residency_class", "agent_authz_decision", "llm_used_fallback", "guardrails_skipped", "llm_prompt_tokens", "llm_completion_tokens", "llm_total_tokens", "llm_estimated_cost_usd"]
  .map((name) => `a.${name}`)
  .join(", ");

/** `ended` are the numbers of three more parameters: tenant, root and end of the runs that had ended before. */
const ADD = (which: string, ended: readonly [number, number, number]) => `
  WITH judged AS (
    SELECT ${NEEDED}, coalesce(a.timestamp > coalesce(r.closed_at, min(a.created_at) FILTER (WHERE a.run_end_state IS NOT NULL) OVER (PARTITION BY a.tenant_id, a.root_task_id)), false) AS late
    FROM audit_rows a LEFT JOIN unnest($${ended[0]}::text[], $${ended[1]}::text[], $${ended[2]}::timestamptz[]) AS r (tenant_id, root_task_id, closed_at) ON r.tenant_id = a.tenant_id AND r.root_task_id = a.root_task_id
    WHERE ${which} AND a.tenant_id IS NOT NULL AND a.root_task_id IS NOT NULL AND a.timestamp IS NOT NULL AND ${IS_ACTION}
  ), added AS (
    INSERT INTO runs AS r (tenant_id, root_task_id, run_id, resource_group_id, participants, state, state_source, outcome, started_at, last_at, last_id, last_result, active_at, ended_at, closed_at,
      ${SUM_COLUMNS.join(", ")}, degraded)
    SELECT a.tenant_id, a.root_task_id,
      max(a.request_headers->>'x-gw-run-id') FILTER (WHERE a.trace_continuity = 'client_asserted'),
      coalesce((min(${IN_ORDER("timestamp", "a.resource_group_id")}))[3], ''),
      CASE WHEN min(a.participant) = max(a.participant) THEN ARRAY[min(a.participant)] ELSE coalesce((SELECT array_agg(DISTINCT p) FROM unnest(array_agg(a.participant)) p WHERE p IS NOT NULL), '{}') END,
      coalesce(${END_STATE}, 'open'), CASE WHEN ${END_STATE} IS NOT NULL THEN 'client' END,
      ${newest("a.custom_metadata->>'run_outcome'", "a.custom_metadata ? 'run_outcome'")},
      min(a.timestamp), max(a.timestamp) FILTER (WHERE NOT a.late), ${LAST_ID}, ${newest(RESULT)},
      max(a.created_at), ${ENDED_AT}, ${ENDED_AT}, ${SUMS}
    FROM ${JUDGED("SELECT *, coalesce(api_key_id, gateway_user_id) AS participant FROM judged")}
    GROUP BY a.tenant_id, a.root_task_id ORDER BY a.tenant_id, a.root_task_id
    ON CONFLICT (tenant_id, root_task_id) DO UPDATE SET
      run_id = coalesce(r.run_id, excluded.run_id),
      participants = CASE WHEN r.participants @> excluded.participants THEN r.participants ELSE (SELECT array_agg(DISTINCT p) FROM unnest(r.participants || excluded.participants) p) END,
      state = CASE WHEN r.state = 'open' THEN excluded.state ELSE r.state END,
      state_source = coalesce(r.state_source, excluded.state_source),
      outcome = CASE WHEN r.state = 'open' THEN coalesce(excluded.outcome, r.outcome) ELSE coalesce(r.outcome, excluded.outcome) END,
      started_at = least(r.started_at, excluded.started_at),
      last_id = CASE WHEN excluded.last_at >= coalesce(r.last_at, excluded.last_at) THEN excluded.last_id ELSE r.last_id END,
      last_result = CASE WHEN excluded.last_at >= coalesce(r.last_at, excluded.last_at) THEN excluded.last_result ELSE r.last_result END,
      last_at = greatest(r.last_at, excluded.last_at),
      active_at = greatest(r.active_at, excluded.active_at),
      ended_at = coalesce(r.ended_at, excluded.ended_at),
      closed_at = coalesce(r.closed_at, excluded.closed_at),
      ${SUM_COLUMNS.map((name) => `${name} = r.${name} + excluded.${name}`).join(", ")},
      degraded = r.degraded OR excluded.degraded
    RETURNING tenant_id, root_task_id, closed_at, last_at
  )
  SELECT tenant_id, root_task_id, last_at > closed_at AS over FROM added WHERE closed_at IS NOT NULL`;

const TAG_LATE = `
  WITH tagged AS (
    UPDATE audit_rows a SET tags = coalesce(a.tags, '[]') || '["late"]'
    FROM runs r JOIN unnest($1::text[], $2::text[]) AS k (tenant_id, root_task_id) USING (tenant_id, root_task_id)
    WHERE a.tenant_id = r.tenant_id AND a.root_task_id = r.root_task_id AND a.timestamp > r.closed_at
      AND ${IS_ACTION} AND NOT coalesce(a.tags, '[]') @> '["late"]'
    RETURNING a.id)
  INSERT INTO audit_late_rows SELECT id FROM tagged ON CONFLICT DO NOTHING`;

// A run ended by one writer may have had later calls of another counted already: such a run is added up anew.
const ADD_UP_ANEW = `
  UPDATE runs r SET (last_at, last_id, last_result, ${SUM_COLUMNS.join(", ")}, degraded) = (
    SELECT max(a.timestamp) FILTER (WHERE NOT a.late), ${LAST_ID}, ${newest(RESULT)}, ${SUMS}
    FROM ${JUDGED(`SELECT ${NEEDED}, a.timestamp > r.closed_at AS late FROM audit_rows a WHERE a.tenant_id = r.tenant_id AND a.root_task_id = r.root_task_id AND a.timestamp IS NOT NULL AND ${IS_ACTION}`)})
  FROM unnest($1::text[], $2::text[]) AS k (tenant_id, root_task_id)
  WHERE r.tenant_id = k.tenant_id AND r.root_task_id = k.root_task_id`;

interface ClosedRun {
  readonly tenant_id: string;
  readonly root_task_id: string;
}

/** `parameters` are those of `which`. */
export async function addRowsToRuns(client: pg.PoolClient, which: string, parameters: readonly unknown[]): Promise<void> {
  const { rows: locked } = await client.query<ClosedRun & { closed_at: string | null }>(prepared(LOCK(which), parameters));
  const ended = locked.filter((run) => run.closed_at !== null);
  const next = parameters.length + 1;
  const { rows: closed } = await client.query<ClosedRun & { over: boolean | null }>(prepared(ADD(which, [next, next + 1, next + 2]), [...parameters, ...keysOf(ended), ended.map((run) => run.closed_at)]));
  if (closed.length === 0) return;
  await client.query(TAG_LATE, keysOf(closed));
  const over = closed.filter((run) => run.over === true);
  if (over.length > 0) await client.query(ADD_UP_ANEW, keysOf(over));
}

function keysOf(runs: readonly ClosedRun[]): [string[], string[]] {
  return [runs.map((run) => run.tenant_id), runs.map((run) => run.root_task_id)];
}
