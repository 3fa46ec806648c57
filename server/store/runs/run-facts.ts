import { CAPABILITY_METHODS } from "../../kernel/operations/capability-methods.ts";
import { POLICY_REFUSALS } from "../../kernel/errors.ts";
import { INFERENCE_OPERATIONS } from "../../kernel/operations/inference-operations.ts";
import { SUBTYPES_WITHOUT_MODEL } from "../../kernel/operations/subtypes-without-model.ts";
import { RECORD_SUBTYPES } from "../../kernel/operations/record-subtypes.ts";
import { MADE_BY_CALLER } from "../models/own-calls.ts";

const listed = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(", ");

/**
 * SQL condition: the row is an action of a run. Calls about runs, and people's calls about themselves, are recorded but are not actions.
 */
export const isAction = (row: string): string =>
  `coalesce(${row}.proxy_subtype, '') NOT IN (${listed(RECORD_SUBTYPES)}) AND ${row}.proxy_type IS DISTINCT FROM 'portal'`;
/** SQL condition: the row is a span that reports a call which the gateway itself carried. */
export const isJoined = (row: string): string => `(${row}.custom_metadata->'joined_row_id' IS NOT NULL)`;
export const IS_ACTION = isAction("a");

/** The state in which a run would end if this row were its last. */
const RESULT = `CASE
    WHEN a.success THEN 'completed'
    WHEN a.error_type = 'run_ceiling_reached' THEN 'exhausted'
    WHEN a.error_type = 'client_disconnected' THEN 'cancelled'
    WHEN a.guardrail_blocked OR a.argument_policy_denied OR a.residency_class = 'blocked' OR a.agent_authz_decision IN ('deny', 'approval_required')
      OR (a.http_status_code IN (403, 429) AND a.error_type NOT LIKE 'upstream%')
      OR a.error_type IN (${listed(POLICY_REFUSALS)}) OR a.custom_metadata ? 'refused_by' THEN 'blocked_policy'
    ELSE 'errored' END`;

const ASKS_MODEL =
  `a.proxy_type = 'batch' AND a.proxy_subtype LIKE 'batch\\_line\\_%' OR a.proxy_type = 'llm' AND CASE WHEN a.source = 'otel' ` +
  `THEN coalesce(a.proxy_subtype IN (${listed(INFERENCE_OPERATIONS)}), false) ELSE coalesce(a.proxy_subtype, '') NOT IN (${listed(SUBTYPES_WITHOUT_MODEL)}) END`;

/** Handshakes, lists and streams of a tool server use none of its tools. */
const USES_TOOL = `a.proxy_type IN ('skill', 'a2a') OR (a.proxy_type IN ('mcp', 'virtual_mcp')
    AND (a.source = 'otel' OR a.mcp_method IN (${listed(CAPABILITY_METHODS)}) OR a.proxy_subtype = 'mcp_sub_path'))`;

/**
 * SQL condition: the row decides the run's result. A nested call of the gateway does not, because the caller's call shows whether it went
 * on.
 */
const DECIDES = `(a.parent_request_id IS NULL OR ${MADE_BY_CALLER})`;

/** When a row of `audit_rows a` happened. A span that claims to have begun after it arrived comes from a wrong clock. */
export const HAPPENED_AT = `CASE WHEN a.source = 'otel' THEN least(a.timestamp, a.created_at) ELSE a.timestamp END`;

/** What runs need of a row of `audit_rows a`, without bodies, which would be carried along. `moment` is text that sorts by time. */
export const RUN_FACTS = `a.id, a.tenant_id, a.root_task_id COLLATE "C" AS root_task_id, ${HAPPENED_AT} AS timestamp, a.created_at, to_char(${HAPPENED_AT} AT TIME ZONE 'UTC', 'YYYYMMDDHH24MISSUS') AS moment,
  (${ASKS_MODEL}) AS asks_model, coalesce(${USES_TOOL}, false) AS tool, a.success IS FALSE OR coalesce(a.tags, '[]') @> '["tool_error"]' AS failed_tool, a.source, a.success, a.trace_continuity, a.run_end_state, a.resource_group_id, coalesce(a.api_key_id, a.gateway_user_id) AS participant,
  CASE WHEN a.trace_continuity = 'client_asserted' THEN a.request_headers->>'x-gw-run-id' END AS run_id,
  a.custom_metadata ? 'run_outcome' AS told_outcome, a.custom_metadata->>'run_outcome' AS outcome, ${isJoined("a")} AS joined,
  ${RESULT} AS result, ${DECIDES} AS decides, a.llm_used_fallback OR a.guardrails_skipped AS degraded, a.llm_prompt_tokens AS prompt_tokens, a.llm_completion_tokens AS completion_tokens,
  round(a.llm_estimated_cost_usd * 1000000) AS cost_micro_usd,
  a.llm_estimated_cost_usd IS NULL AND coalesce(a.llm_total_tokens, a.llm_prompt_tokens, a.llm_completion_tokens) > 0 AS unpriced`;
