import type { AuditRow } from "@gatehouse/ledger-format/fields";

const FACTS = [
  "id",
  "timestamp",
  "duration_ms",
  "success",
  "error_type",
  "http_status_code",
  "http_method",
  "endpoint",
  "proxy_type",
  "proxy_subtype",
  "tenant_id",
  "resource_group_id",
  "root_task_id",
  "parent_request_id",
  "correlation_id",
  "trace_id",
  "span_id",
  "llm_model_requested",
  "llm_model_used",
  "llm_provider",
  "llm_prompt_tokens",
  "llm_completion_tokens",
  "llm_estimated_cost_usd",
  "llm_streaming",
  "llm_used_fallback",
  "llm_cache_hit",
  "prompt_cache_read_tokens",
  "prompt_cache_write_tokens",
  "server_id",
  "mcp_method",
  "mcp_capability_name",
  "actor_agent_id",
  "a2a_protocol_version",
  "guardrail_blocked",
  "guardrail_action",
  "argument_policy_denied",
] as const satisfies readonly (keyof AuditRow)[];

/** The fields of a finished call that are exported as telemetry. */
export type CallFacts = Pick<AuditRow, (typeof FACTS)[number]>;

export function callFacts(row: AuditRow): CallFacts {
  const facts: Record<string, unknown> = {};
  for (const name of FACTS) facts[name] = row[name] ?? null;
  return facts as CallFacts;
}
