import type { NullableJson, NullableStamp, Stamp, WithDefault } from "./columns.ts";

/** Tables of agents, their tasks, and subscribers to these. */

/** The result of the last check of an agent card's signatures. */
export interface AgentCardSignature {
  readonly status: "unsigned" | "unverified" | "verified" | "failed";
  readonly kid: string | null;
  readonly trusted_by: "card_keys" | "card_keys_url" | "agent_host" | null;
  readonly detail: string;
}

export interface AgentTable {
  /** `agent-` and a ULID. */
  id: string;
  tenant_id: string;
  card_name: string;
  name: string;
  description: string | null;
  direction: WithDefault<string>;
  card_url: string | null;
  base_url: string | null;
  auth_type: WithDefault<string>;
  credentials_sealed: string | null;
  /** Seconds. */
  timeout: WithDefault<number>;
  enabled: WithDefault<boolean>;
  /** Null for all. */
  skills_allowed: string[] | null;
  resource_group_id: string | null;
  /** Null until a card was found, like the fields below. */
  endpoint_url: string | null;
  protocol_version: string | null;
  dialect: string | null;
  upstream_card: NullableJson<Record<string, unknown>>;
  published_card: NullableJson<Record<string, unknown>>;
  skills_digest: string | null;
  discovered_at: NullableStamp;
  /** Public keys as JWKs. */
  card_keys: NullableJson<Record<string, unknown>[]>;
  card_keys_url: string | null;
  card_signature: NullableJson<AgentCardSignature>;
  is_healthy: boolean | null;
  health_checked_at: NullableStamp;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface AgentGrantTable {
  id: string;
  tenant_id: string;
  agent_id: string;
  skill_ids: string[] | null;
  decision: WithDefault<string>;
  max_depth: number | null;
  enabled: WithDefault<boolean>;
  approval_timeout_seconds: WithDefault<number>;
  approver_group_ids: WithDefault<string[]>;
  skills_digest: string | null;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface AgentSigningKeyTable {
  kid: string;
  tenant_id: string;
  /** base64url, 32 bytes. */
  public_key: string;
  private_key_sealed: string;
  created_at: Stamp;
  retires_at: NullableStamp;
}

export interface AgentTaskTable {
  tenant_id: string;
  agent_id: string;
  id: string;
  context_id: string;
  owner_kind: string;
  owner_id: string;
  resource_group_id: string;
  state: string;
  status_at: Stamp;
  /** JSON text; null if no bodies are stored. */
  task: string | null;
  root_task_id: string;
  depth: number;
  protocol_version: string;
  created_at: Stamp;
  updated_at: Stamp;
  watched_until: NullableStamp;
  told_digest: string | null;
  counted_micros: WithDefault<number>;
  told_micros: WithDefault<number>;
  owed_micros: WithDefault<number>;
  cost_due_at: NullableStamp;
  request_id: string | null;
}

export interface AgentTaskStateTable {
  tenant_id: string;
  agent_id: string;
  task_id: string;
  state: string;
  at: Stamp;
  seen_at: Stamp;
}

export interface AgentContextTable {
  tenant_id: string;
  agent_id: string;
  owner_id: string;
  context_id: string;
  upstream_context_id: string;
  used_at: Stamp;
}

export interface AgentPushConfigTable {
  tenant_id: string;
  agent_id: string;
  task_id: string;
  id: string;
  url: string;
  scheme: string | null;
  secrets_sealed: string | null;
  protocol_version: string;
  created_at: Stamp;
}

export interface AgentPushDeliveryTable {
  id: string;
  tenant_id: string;
  agent_id: string;
  task_id: string;
  config_id: string;
  body: string;
  brief: WithDefault<string | null>;
  attempts: WithDefault<number>;
  due_at: Stamp;
  created_at: Stamp;
}
