import type { RUN_STATES } from "@gatehouse/contracts/runs";
import type { AuditRow, FieldName } from "@gatehouse/ledger-format/fields";
import { sql } from "kysely";
import { auditColumns, isoColumn } from "../ledger/audit-columns.ts";
import type { Database } from "../database.ts";
import { isAction, isJoined } from "./run-facts.ts";

export type RunState = (typeof RUN_STATES)[number];
export type EndState = Exclude<RunState, "open">;

/** A run as aggregated from the ledger's rows. Times are ISO 8601 UTC; a late call counts in `late_calls` and nowhere else. */
export interface RunRow {
  readonly root_task_id: string;
  /** The ID the caller gave it; null if the gateway generated one. */
  readonly run_id: string | null;
  readonly resource_group_id: string;
  readonly state: RunState;
  readonly state_source: "client" | "derived" | null;
  readonly outcome: string | null;
  readonly started_at: string;
  readonly last_call_at: string | null;
  readonly ended_at: string | null;
  readonly calls: number;
  readonly llm_calls: number;
  readonly tool_calls: number;
  readonly tool_errors: number;
  readonly errors: number;
  readonly late_calls: number;
  readonly external_calls: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cost_micro_usd: number;
  readonly unpriced_calls: number;
}

/** Select list of `runs` in the form of a `RunRow`. */
export const RUN_COLUMNS = sql`root_task_id, run_id, resource_group_id, state, state_source, outcome, ${isoColumn("started_at")} AS started_at, ${isoColumn("active_at")} AS last_call_at, ${isoColumn("ended_at")} AS ended_at,
  calls, llm_calls, tool_calls, tool_errors, errors, late_calls, external_calls, prompt_tokens, completion_tokens, cost_micro_usd, unpriced_calls`;

/** The first of the IDs' runs in which `participant` took part; undefined if there is none. */
export async function findRun(db: Database, tenantId: string, ids: readonly string[], participant: string): Promise<RunRow | undefined> {
  const { rows } = await sql<RunRow>`
    SELECT ${RUN_COLUMNS} FROM runs WHERE tenant_id = ${tenantId} AND root_task_id = ANY(${ids}) AND participants @> ARRAY[${participant}]
    ORDER BY array_position(${ids}::text[], root_task_id) LIMIT 1`.execute(db);
  return rows[0];
}

const ACTION_FIELDS: readonly FieldName[] = [
  "id",
  "timestamp",
  "proxy_type",
  "proxy_subtype",
  "source",
  "llm_model_requested",
  "llm_model_used",
  "llm_provider",
  "server_id",
  "mcp_capability_name",
  "skill_id",
  "http_status_code",
  "success",
  "error_type",
  "duration_ms",
  "llm_prompt_tokens",
  "llm_completion_tokens",
  "llm_estimated_cost_usd",
  "turn_id",
  "turn_seq",
  "step_id",
  "step_name",
  "trace_continuity",
  "parent_task_id",
  "delegation_depth",
  "deciding_model",
  "tags",
];

export interface ActionRow extends AuditRow {
  /** Whether this is a span that reports a call which the gateway itself carried. */
  readonly joined?: boolean | null;
}

/** The rows of a run in call order, at most `limit`. */
export async function runActions(db: Database, tenantId: string, rootTaskId: string, limit: number): Promise<ActionRow[]> {
  const { rows } = await sql<ActionRow>`
    SELECT ${auditColumns(ACTION_FIELDS)}, ${sql.raw(isJoined("audit_rows"))} AS joined FROM audit_rows
    WHERE root_task_id = ${rootTaskId} AND tenant_id = ${tenantId} AND ${sql.raw(isAction("audit_rows"))}
    ORDER BY audit_rows.timestamp, audit_rows.id LIMIT ${limit}`.execute(db);
  return rows;
}

export const DERIVED = sql`CASE WHEN coalesce(last_result, 'completed') <> 'completed' THEN last_result WHEN degraded THEN 'completed_degraded' ELSE 'completed' END`;

/**
 * Ends an open run in `state`, or in the state its calls led to. The first outcome is recorded beside the state, even if it comes after the
 * end. Returns the run as it is then.
 */
export async function endRun(
  db: Database,
  tenantId: string,
  rootTaskId: string,
  end: { readonly state: EndState | null; readonly outcome: string | null; readonly at: string },
): Promise<RunRow | undefined> {
  const { state, outcome, at } = end;
  const { rows } = await sql<RunRow>`
    UPDATE runs SET
      outcome = CASE WHEN state = 'open' THEN coalesce(${outcome}::text, outcome) ELSE coalesce(outcome, ${outcome}::text) END,
      state_source = CASE WHEN state = 'open' THEN ${state === null ? "derived" : "client"} ELSE state_source END,
      ended_at = coalesce(ended_at, ${at}::timestamptz), closed_at = coalesce(closed_at, ${at}::timestamptz),
      state = CASE WHEN state = 'open' THEN coalesce(${state}::text, ${DERIVED}) ELSE state END
    WHERE tenant_id = ${tenantId} AND root_task_id = ${rootTaskId}
    RETURNING ${RUN_COLUMNS}`.execute(db);
  return rows[0];
}
