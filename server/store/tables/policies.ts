import type { ColumnType } from "kysely";
import type { Json, NullableJson, NullableStamp, Stamp, WithDefault } from "./columns.ts";

/** Limits and policies on calls, and the alerts they raise. */

export interface GroupPolicyTable {
  tenant_id: string;
  group_id: string;
  kind: string;
  item_id: WithDefault<string>;
  document: Json<unknown>;
  updated_at: Stamp;
}

/** The limit that an alert is about. */
export interface AlertedLimit {
  readonly limit_type: string;
  readonly max_limit: number;
  /** What it applies to: the group, each of its users, or the model or tool server of that name in it. */
  readonly scope: string;
  readonly group_name: string;
  readonly item_name: string | null;
}

export interface AlertTable {
  id: string;
  tenant_id: string;
  alert_type: string;
  severity: string;
  title: string;
  message: string;
  group_id: string | null;
  threshold_value: number | null;
  current_value: number | null;
  usage_limit: NullableJson<AlertedLimit>;
  resolved: WithDefault<boolean>;
  created_at: Stamp;
  resolved_at: NullableStamp;
  crossing: string;
  expires_at: NullableStamp;
}

export interface SemanticCacheConfigTable {
  id: string;
  tenant_id: string;
  name: string;
  enabled: WithDefault<boolean>;
  scope: WithDefault<string>;
  exact_match: Json<{ enabled: boolean; ttl_seconds: number }>;
  semantic_match: Json<{ enabled: boolean; similarity_threshold: number; ttl_seconds: number }>;
  embedding_model_id: string | null;
  max_temperature: WithDefault<number>;
  include_tools: WithDefault<boolean>;
  /** Changes whenever stored answers are invalidated. */
  generation: string;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface SemanticCacheEntryTable {
  id: string;
  tenant_id: string;
  config_id: string;
  exact_key: string;
  space: string | null;
  embedding: Buffer | null;
  model_id: string;
  model_name: string;
  answer: Json<unknown>;
  tokens: number;
  call_id: string;
  end_user_id: string | null;
  api_key_id: string | null;
  exact_until: NullableStamp;
  semantic_until: NullableStamp;
  created_at: Stamp;
}

export interface SemanticPolicyTable {
  id: string;
  tenant_id: string;
  name: string;
  description: string | null;
  constraint_text: string;
  action: string;
  mode: string;
  surfaces: string[];
  enabled: WithDefault<boolean>;
  judge_model_id: string | null;
  on_judge_failure: string;
  timeout_seconds: number;
  all_groups: WithDefault<boolean>;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface GuardrailConfigTable {
  id: string;
  tenant_id: string;
  name: string;
  description: string | null;
  enabled: WithDefault<boolean>;
  /** Null for every group. */
  group_ids: string[] | null;
  surfaces: Json<Record<string, boolean>>;
  builtin: Json<Record<string, unknown>>;
  providers: Json<unknown[]>;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface ArgumentPolicyTable {
  id: string;
  tenant_id: string;
  name: string;
  description: string | null;
  surface: string;
  target: string;
  argument_key: string | null;
  analyzer: string;
  severity: string;
  enabled: WithDefault<boolean>;
  rules: Json<{ deny_if: string; message: string; values?: string[] }[]>;
  dialect: string | null;
  read_functions: string[] | null;
  schema: ColumnType<Record<string, unknown> | null, string | null, string | null>;
  all_groups: WithDefault<boolean>;
  created_at: Stamp;
  updated_at: Stamp;
}
