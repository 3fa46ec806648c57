-- Tool servers, what a group may call of them, the approvals of single calls, and what processes share of an exchange.

-- The id is `mcp-` and a ULID. dialect and what stands beside it are what the last conclusive discovery found; tool_index is
-- its tools as calls need them: name, hash of the definition, mirrored arguments. handshake is what a server of the
-- stateless dialect is to clients of the other, where it has sessions for them itself; null of any other server.
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
  handshake jsonb,
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
  -- As they were sent: a text keeps every digit, and what JSON may say that jsonb does not hold.
  call_arguments text NOT NULL,
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
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Sessions of the handshake dialect in which the caller was shown the way to the approval: the same call goes on there
  -- without its token. Digests, never the sessions' own texts.
  shown_in text[] NOT NULL DEFAULT '{}',
  -- Which end user resolved it, so that it is no administrator of the same name: null for one of those, empty for an end
  -- user who is gone. Administrators' resolutions stand in the admin log.
  resolver_id text,
  -- What the tool takes, as its server listed it when approval was asked for: SHA-256, hex, of its input schema; empty of
  -- a tool that was not listed.
  definition_digest text NOT NULL DEFAULT ''
);
CREATE INDEX approvals_tenant ON approvals (tenant_id, created_at);
CREATE UNIQUE INDEX approvals_same_pending
  ON approvals (tenant_id, requester_id, requester_group_id, server_id, capability_name, arguments_digest) WHERE status = 'pending';
CREATE INDEX approvals_usable ON approvals (tenant_id, requester_id) WHERE status = 'approved' AND consumed_at IS NULL;

-- A worker looks for what is over every few seconds, and need not read what has been over for long.
CREATE INDEX approvals_running ON approvals (expires_at) WHERE status = 'pending' OR (status = 'approved' AND consumed_at IS NULL);

-- What a person may see of a tenant's approvals: those they asked for, and those of their groups.
CREATE INDEX approvals_requester ON approvals (requester_id);
CREATE INDEX approvals_requester_group ON approvals (requester_group_id);
CREATE INDEX approvals_approvers ON approvals USING gin (approver_group_ids);

-- What one process has to tell another about an exchange with a tool server that only the other one holds. body is
-- sealed. A letter is taken by whoever it is for, once; what nobody takes is forgotten.
CREATE TABLE tool_letters (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  recipient text NOT NULL,
  body text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX tool_letters_recipient ON tool_letters (recipient, id);

-- What callers said for the whole of their sessions with servers that the gateway translates for or gathers: any process
-- may get their next request. session is a digest, never the session's own text. version tells the newer of two
-- readings, also of a row that was forgotten and made again.
CREATE SEQUENCE tool_sessions_version;
CREATE TABLE tool_sessions (
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  session text NOT NULL,
  uris text[] NOT NULL DEFAULT '{}',
  log_level text,
  version bigint NOT NULL DEFAULT nextval('tool_sessions_version'),
  used_at timestamptz NOT NULL DEFAULT now(),
  -- Set once its caller has ended the session: it is kept for as long as what is noted of others that nobody uses.
  ended boolean NOT NULL DEFAULT false,
  PRIMARY KEY (tenant_id, session)
);
CREATE INDEX tool_sessions_used ON tool_sessions (used_at);

-- The gateway as a client of authorization servers: by an admin (redirect_uri is empty) or by its own registration, which
-- holds for one redirect address.
CREATE TABLE oauth_upstream_clients (
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  mcp_server_id text NOT NULL REFERENCES mcp_servers ON DELETE CASCADE,
  issuer text NOT NULL,
  redirect_uri text NOT NULL DEFAULT '',
  client_id text NOT NULL,
  client_secret_sealed text,
  auth_method text NOT NULL,
  scopes text[],
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (mcp_server_id, issuer, redirect_uri)
);

-- One server has one client made by an admin, whatever its issuer.
CREATE UNIQUE INDEX oauth_upstream_clients_admin ON oauth_upstream_clients (mcp_server_id) WHERE redirect_uri = '';

-- What a principal was given by an authorization server for one tool server. Both tokens are sealed, bound to the row.
CREATE TABLE oauth_tokens (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  principal_type text NOT NULL,
  principal_id text NOT NULL,
  mcp_server_id text NOT NULL REFERENCES mcp_servers ON DELETE CASCADE,
  issuer text NOT NULL,
  client_id text NOT NULL,
  redirect_uri text NOT NULL,
  resource text NOT NULL,
  access_token_sealed text NOT NULL,
  refresh_token_sealed text,
  scopes text[] NOT NULL DEFAULT '{}',
  expires_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  -- One renewal of the same tokens at a time over all processes, without a connection that waits for their issuer.
  renewal_id uuid,
  renewal_ends timestamptz,
  UNIQUE (tenant_id, principal_type, principal_id, mcp_server_id, issuer)
);
CREATE INDEX oauth_tokens_server ON oauth_tokens (mcp_server_id);

-- Clients that were given tokens of the gateway's own which stand for such a row. The nonce is that of the newest
-- refresh token: one with another nonce was used before.
CREATE TABLE oauth_client_grants (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  token_id uuid NOT NULL REFERENCES oauth_tokens ON DELETE CASCADE,
  client_hash text NOT NULL,
  nonce text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  used_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX oauth_client_grants_token ON oauth_client_grants (token_id);
