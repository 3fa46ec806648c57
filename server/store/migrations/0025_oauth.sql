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
