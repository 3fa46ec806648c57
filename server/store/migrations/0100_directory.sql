-- Who exists and who may what. Every row that belongs to a tenant names it, and every query is scoped by it.
-- What refers to a person, a group or a model is looked for when one of them goes, so each such column has an index.

-- portal_registration: whether strangers may register themselves in the tenant's portal.
CREATE TABLE tenants (
  id text PRIMARY KEY,
  name text NOT NULL,
  display_name text,
  enabled boolean NOT NULL DEFAULT true,
  data_retention jsonb NOT NULL,
  default_judge_model_id uuid,
  allowed_regions text[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  run_idle_minutes bigint NOT NULL DEFAULT 30,
  portal_registration text NOT NULL DEFAULT 'open' CHECK (portal_registration IN ('open', 'closed'))
);

-- Tenants that were deleted: their audit rows stay, and go when the tenant's own retention says.
CREATE TABLE gone_tenants (
  id text PRIMARY KEY,
  data_retention jsonb NOT NULL,
  gone_at timestamptz NOT NULL
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

-- branches_left: how often a branch of the group was moved elsewhere. What is counted of the group begins anew with it, from
-- the totals of those that stayed.
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
  branches_left integer NOT NULL DEFAULT 0,
  UNIQUE (tenant_id, name)
);
CREATE INDEX resource_groups_parent ON resource_groups (parent_group_id);

-- What a deleted group used goes on counting for those above it: the nearest of them that is left stands for it.
CREATE TABLE gone_groups (
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  group_id text NOT NULL,
  heir_id uuid NOT NULL REFERENCES resource_groups ON DELETE CASCADE,
  PRIMARY KEY (tenant_id, group_id)
);
CREATE INDEX gone_groups_heir ON gone_groups (heir_id);

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

-- The admin log stands in a chain of its own, so that a change of policy can be proved like a call. Entries without a
-- chain_seq were written by releases that sealed nothing.
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
  request_id text,
  chain_seq bigint UNIQUE,
  prev_hash text,
  entry_hash text
);
CREATE INDEX admin_log_tenant ON admin_log (tenant_id, id);

-- Where the log of a tenant begins whose id another one had before.
CREATE INDEX admin_log_tenants_made ON admin_log (resource_id, chain_seq) WHERE resource = 'tenants' AND action = 'create';

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
END $$;
CREATE TRIGGER admin_log_append_only BEFORE UPDATE OR DELETE ON admin_log FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER admin_log_not_truncated BEFORE TRUNCATE ON admin_log FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TABLE admin_log_head (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  seq bigint NOT NULL,
  hash text NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO admin_log_head (seq, hash) VALUES (0, repeat('0', 64));

CREATE TABLE admin_log_checkpoints (
  checkpoint_no bigint PRIMARY KEY,
  chain_seq bigint NOT NULL,
  note text NOT NULL,
  signed_at timestamptz NOT NULL
);
