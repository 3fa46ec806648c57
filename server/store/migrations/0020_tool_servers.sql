-- Tool servers. The id is `mcp-` and a ULID. dialect and what stands beside it are what the last conclusive discovery
-- found; tool_index is its tools as calls need them: name, hash of the definition, mirrored arguments.
CREATE TABLE mcp_servers (
  id text PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  name text NOT NULL,
  description text,
  base_url text NOT NULL,
  mcp_endpoint_path text NOT NULL,
  auth_type text NOT NULL DEFAULT 'none',
  api_key_sealed text,
  api_key_hint text,
  timeout double precision NOT NULL DEFAULT 30,
  enabled boolean NOT NULL DEFAULT true,
  icon_url text,
  dialect text,
  protocol_version text,
  server_name text,
  server_version text,
  capabilities jsonb NOT NULL DEFAULT '{}',
  instructions text,
  tool_index jsonb NOT NULL DEFAULT '[]',
  discovered_at timestamptz,
  is_healthy boolean,
  health_checked_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (tenant_id, base_url, mcp_endpoint_path)
);

-- What each conclusive discovery found, whole, and how its tools differ from those of the one before.
CREATE TABLE mcp_server_snapshots (
  id text PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  mcp_server_id text NOT NULL REFERENCES mcp_servers ON DELETE CASCADE,
  taken_at timestamptz NOT NULL,
  protocol_version text NOT NULL,
  dialect text NOT NULL,
  server_version text,
  capabilities jsonb NOT NULL,
  tools jsonb NOT NULL,
  prompts jsonb NOT NULL,
  resources jsonb NOT NULL,
  resource_templates jsonb NOT NULL,
  diff jsonb NOT NULL
);
CREATE INDEX mcp_server_snapshots_server ON mcp_server_snapshots (mcp_server_id, id);

CREATE TABLE server_configs (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  mcp_server_id text NOT NULL REFERENCES mcp_servers ON DELETE CASCADE,
  name text NOT NULL,
  display_name text,
  description text,
  display_description text,
  enabled boolean NOT NULL DEFAULT true,
  priority bigint NOT NULL DEFAULT 0,
  is_default boolean NOT NULL DEFAULT false,
  enabled_tools text[],
  disabled_tools text[] NOT NULL DEFAULT '{}',
  approval_required_tools text[] NOT NULL DEFAULT '{}',
  approval_timeout_seconds bigint NOT NULL DEFAULT 900,
  approver_group_ids uuid[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (tenant_id, name)
);
CREATE INDEX server_configs_server ON server_configs (mcp_server_id);

CREATE TABLE server_config_groups (
  config_id uuid NOT NULL REFERENCES server_configs ON DELETE CASCADE,
  group_id uuid NOT NULL REFERENCES resource_groups ON DELETE CASCADE,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  PRIMARY KEY (config_id, group_id)
);
CREATE INDEX server_config_groups_group ON server_config_groups (group_id);

-- Virtual servers: several tool servers as one. The id is `vmcp-` and a ULID; members is [{mcp_server_id, slug}].
CREATE TABLE virtual_servers (
  id text PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  name text NOT NULL,
  display_name text,
  description text,
  enabled boolean NOT NULL DEFAULT true,
  members jsonb NOT NULL DEFAULT '[]',
  group_ids uuid[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (tenant_id, name)
);

-- Approvals of single tool calls. The token is derived from id and token_nonce with the gateway's key, so that what
-- stands here alone redeems nothing. consumed_at is set once, by the call that redeemed it.
CREATE TABLE approvals (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  server_config_id uuid,
  server_id text NOT NULL,
  server_name text NOT NULL,
  capability_type text NOT NULL,
  capability_name text NOT NULL,
  requester_type text NOT NULL,
  requester_id text NOT NULL,
  requester_display text NOT NULL,
  requester_group_id uuid NOT NULL,
  approver_group_ids uuid[] NOT NULL DEFAULT '{}',
  call_arguments jsonb NOT NULL,
  arguments_digest text NOT NULL,
  request_metadata jsonb NOT NULL DEFAULT '{}',
  status text NOT NULL DEFAULT 'pending',
  timeout_seconds bigint NOT NULL,
  expires_at timestamptz NOT NULL,
  token_nonce text,
  resolved_by text,
  resolved_at timestamptz,
  resolution_note text,
  consumed_at timestamptz,
  consumed_by_call text,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX approvals_tenant ON approvals (tenant_id, created_at);
CREATE INDEX approvals_open ON approvals (expires_at) WHERE status = 'pending';
CREATE UNIQUE INDEX approvals_same_pending ON approvals (tenant_id, requester_id, requester_group_id, server_id, capability_name, arguments_digest) WHERE status = 'pending';
