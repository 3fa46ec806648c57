import type { FieldName } from "./fields.ts";

const V1 = [
  "id",
  "tenant_id",
  "timestamp",
  "proxy_type",
  "proxy_subtype",
  "actor_agent_id",
  "subject_id",
  "subject_kind",
  "api_key_id",
  "resource_group_id",
  "http_method",
  "endpoint",
  "mcp_capability_name",
  "llm_model_used",
  "agent_authz_decision",
  "agent_grant_id",
  "semantic_policy_id",
  "argument_policy_id",
  "guardrail_config_id",
  "guardrail_check",
  "guardrail_action",
  "autonomy_level",
  "autonomy_provenance",
  "consumed_approval_request_id",
  "guardrail_blocked",
  "argument_policy_denied",
  "http_status_code",
  "success",
  "root_task_id",
  "turn_id",
] as const satisfies readonly FieldName[];

const ADDED_BY_V2 = [
  "request_content_hash",
  "response_content_hash",
  "server_version",
  "tool_definition_hash",
] as const satisfies readonly FieldName[];

/** The fields that each hash format covers, in canonical order. */
export const HASH_FORMATS = { v1: V1, v2: [...V1, ...ADDED_BY_V2] } as const satisfies Record<string, readonly FieldName[]>;

export type HashFormat = keyof typeof HASH_FORMATS;

/** A v1 hash is accepted only for rows that have none of these fields. */
export const V2_FIELDS: readonly FieldName[] = ADDED_BY_V2;
