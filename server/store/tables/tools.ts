import type { Json, JsonWithDefault, NullableJson, NullableStamp, Stamp, WithDefault } from "./columns.ts";

/** Tables of tool servers and approvals. */

/**
 * A tool as calls need it: its definition's hash, and the arguments that the stateless dialect mirrors in headers (null if wrongly
 * annotated).
 */
export interface IndexedTool {
  readonly name: string;
  readonly hash: string;
  readonly params: readonly { readonly path: readonly string[]; readonly header: string }[] | null;
  /** Address of the user interface it provides. */
  readonly ui?: string;
}

export interface McpServerTable {
  /** `mcp-` and a ULID. */
  id: string;
  tenant_id: string;
  name: string;
  description: string | null;
  base_url: string;
  mcp_endpoint_path: string;
  auth_type: WithDefault<string>;
  api_key_sealed: string | null;
  api_key_hint: string | null;
  /** Seconds. */
  timeout: WithDefault<number>;
  enabled: WithDefault<boolean>;
  icon_url: string | null;
  /** Null until a discovery was conclusive, like the fields below. */
  dialect: string | null;
  protocol_version: string | null;
  server_name: string | null;
  server_version: string | null;
  /** What else it tells clients about itself. */
  server_info: NullableJson<Record<string, unknown>>;
  capabilities: JsonWithDefault<Record<string, unknown>>;
  instructions: string | null;
  /** Set for a stateless server that itself supports sessions for clients of the handshake dialect. */
  handshake: NullableJson<{ protocolVersion: string; capabilities: Record<string, unknown>; instructions: string | null }>;
  tool_index: JsonWithDefault<IndexedTool[]>;
  discovered_at: NullableStamp;
  is_healthy: boolean | null;
  health_checked_at: NullableStamp;
  /** The discovery whose tools were last accepted. */
  accepted_snapshot_id: string | null;
  accepted_at: NullableStamp;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface McpServerSnapshotTable {
  id: string;
  tenant_id: string;
  mcp_server_id: string;
  taken_at: Stamp;
  protocol_version: string;
  dialect: string;
  server_version: string | null;
  /** Also null in snapshots from before these were kept. */
  instructions: string | null;
  capabilities: Json<Record<string, unknown>>;
  tools: Json<unknown[]>;
  prompts: Json<unknown[]>;
  resources: Json<unknown[]>;
  resource_templates: Json<unknown[]>;
  diff: Json<{ added: string[]; removed: string[]; changed: string[]; changed_under_approval: string[] }>;
}

export interface ServerConfigTable {
  id: string;
  tenant_id: string;
  mcp_server_id: string;
  name: string;
  display_name: string | null;
  description: string | null;
  display_description: string | null;
  enabled: WithDefault<boolean>;
  priority: WithDefault<number>;
  is_default: WithDefault<boolean>;
  /** Null for all. */
  enabled_tools: string[] | null;
  disabled_tools: WithDefault<string[]>;
  approval_required_tools: WithDefault<string[]>;
  approval_timeout_seconds: WithDefault<number>;
  approver_group_ids: WithDefault<string[]>;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface VirtualServerTable {
  /** `vmcp-` and a ULID. */
  id: string;
  tenant_id: string;
  name: string;
  display_name: string | null;
  description: string | null;
  enabled: WithDefault<boolean>;
  members: JsonWithDefault<{ mcp_server_id: string; slug: string }[]>;
  group_ids: WithDefault<string[]>;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface ToolSessionTable {
  tenant_id: string;
  session: string;
  uris: string[];
  log_level: string | null;
  version: number;
  ended: boolean;
  used_at: Date;
}
