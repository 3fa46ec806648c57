-- Who exists and who may what. Every row that belongs to a tenant names it, and every query is scoped by it.

CREATE TABLE tenants (
  id text PRIMARY KEY,
  name text NOT NULL,
  display_name text,
  enabled boolean NOT NULL DEFAULT true,
  data_retention jsonb NOT NULL,
  default_judge_model_id uuid,
  allowed_regions text[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- tenant_id is null for system admins.
CREATE TABLE admin_users (
  id uuid PRIMARY KEY,
  tenant_id text REFERENCES tenants ON DELETE CASCADE,
  username text NOT NULL,
  email text,
  display_name text,
  password_hash text NOT NULL,
  role text NOT NULL,
  is_active boolean NOT NULL DEFAULT true,
  tokens_valid_from timestamptz NOT NULL DEFAULT now(),
  last_login timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX admin_users_username ON admin_users (coalesce(tenant_id, ''), lower(username));

CREATE TABLE end_users (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  username text NOT NULL,
  email text,
  display_name text,
  password_hash text NOT NULL,
  is_active boolean NOT NULL DEFAULT true,
  is_verified boolean NOT NULL DEFAULT false,
  metadata jsonb NOT NULL DEFAULT '{}',
  avatar_url text,
  totp_enabled boolean NOT NULL DEFAULT false,
  primary_group_id uuid,
  last_login timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX end_users_username ON end_users (tenant_id, lower(username));

CREATE TABLE providers (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  provider_key text NOT NULL,
  name text NOT NULL,
  api_format text NOT NULL,
  base_url text,
  api_key_sealed text,
  api_key_hint text,
  headers jsonb NOT NULL DEFAULT '{}',
  region text,
  enabled boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (tenant_id, provider_key)
);

-- Prices are micro-dollars per million tokens; null means unpriced, which is not the same as free.
CREATE TABLE models (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  provider_id uuid NOT NULL REFERENCES providers,
  name text NOT NULL,
  model_name text NOT NULL,
  description text,
  modes text[] NOT NULL,
  enabled boolean NOT NULL DEFAULT true,
  base_url text,
  api_key_sealed text,
  api_key_hint text,
  default_temperature double precision,
  default_max_tokens bigint,
  system_prompt text,
  input_cost bigint,
  output_cost bigint,
  cache_read_cost bigint,
  cache_write_cost bigint,
  context_window bigint,
  max_output_tokens bigint,
  supports_vision boolean NOT NULL DEFAULT false,
  supports_tools boolean NOT NULL DEFAULT true,
  supports_file_uploads boolean NOT NULL DEFAULT false,
  supports_streaming boolean NOT NULL DEFAULT true,
  rate_limit_rpm bigint,
  rate_limit_tpm bigint,
  max_concurrent_requests bigint,
  residency_region text,
  icon_url text,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (tenant_id, name)
);
CREATE INDEX models_provider ON models (provider_id);

CREATE TABLE resource_groups (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  parent_group_id uuid REFERENCES resource_groups,
  name text NOT NULL,
  display_name text,
  description text,
  group_type text NOT NULL DEFAULT 'team',
  inherit_resources boolean NOT NULL DEFAULT true,
  eu_ai_act_risk_tier text,
  phi_resource boolean,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (tenant_id, name)
);
CREATE INDEX resource_groups_parent ON resource_groups (parent_group_id);

CREATE TABLE resource_group_models (
  group_id uuid NOT NULL REFERENCES resource_groups ON DELETE CASCADE,
  model_id uuid NOT NULL REFERENCES models ON DELETE CASCADE,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  portal_visible boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (group_id, model_id)
);
CREATE INDEX resource_group_models_model ON resource_group_models (model_id);

-- A rotated key keeps its previous hash valid until previous_valid_until.
CREATE TABLE api_keys (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  name text NOT NULL,
  scope text NOT NULL,
  access_mode text NOT NULL,
  resource_group_id uuid REFERENCES resource_groups,
  end_user_id uuid REFERENCES end_users ON DELETE CASCADE,
  allowed_skill_ids jsonb,
  key_hash text NOT NULL UNIQUE,
  key_hint text NOT NULL,
  previous_hash text UNIQUE,
  previous_valid_until timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX api_keys_group ON api_keys (resource_group_id);
CREATE INDEX api_keys_tenant ON api_keys (tenant_id, created_at);

-- One counter whose row lock puts configuration changes in commit order, and the changes themselves, which every
-- runtime process follows to renew what it compiled.
CREATE TABLE config_version (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  version bigint NOT NULL
);
INSERT INTO config_version (version) VALUES (0);

CREATE TABLE config_changes (
  version bigint PRIMARY KEY,
  tenant_id text NOT NULL,
  topic text NOT NULL,
  ref text,
  at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE admin_log (
  id text PRIMARY KEY,
  tenant_id text,
  at timestamptz NOT NULL DEFAULT now(),
  actor_id text,
  actor_username text,
  actor_role text,
  action text NOT NULL,
  resource text NOT NULL,
  resource_id text,
  before jsonb,
  after jsonb,
  client_ip text,
  request_id text
);
CREATE INDEX admin_log_tenant ON admin_log (tenant_id, id);
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
END $$;
CREATE TRIGGER admin_log_append_only BEFORE UPDATE OR DELETE ON admin_log FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
