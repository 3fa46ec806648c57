-- What external directories say of people and groups, who may say it, and what they said.

-- Whoever has one speaks for a directory of the tenant (`source`); two of one source are good beside each other, so that
-- they can be changed one after the other. adopt_existing: whether a person who is there under the same username becomes
-- the directory's. remove_all_members: whether one request may empty a large group.
CREATE TABLE IF NOT EXISTS scim_tokens (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  name text NOT NULL,
  source text NOT NULL,
  token_hash text NOT NULL UNIQUE,
  token_hint text NOT NULL,
  adopt_existing boolean NOT NULL DEFAULT false,
  remove_all_members boolean NOT NULL DEFAULT false,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX IF NOT EXISTS scim_tokens_tenant ON scim_tokens (tenant_id, created_at);

-- People of a directory. `attributes` is the resource as it wrote it. shut_out: the directory switched the person off, and
-- nobody else had, so that it alone lets them in again. A person it deleted is kept until they are erased, and is theirs
-- again when they come back.
CREATE TABLE IF NOT EXISTS scim_users (
  end_user_id uuid PRIMARY KEY REFERENCES end_users ON DELETE CASCADE,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  source text NOT NULL,
  external_id text,
  attributes jsonb NOT NULL,
  active boolean NOT NULL DEFAULT true,
  shut_out boolean NOT NULL DEFAULT false,
  version bigint NOT NULL DEFAULT 1,
  deleted_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS scim_users_external ON scim_users (tenant_id, source, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS scim_users_listed ON scim_users (tenant_id, source, created_at, end_user_id) WHERE deleted_at IS NULL;

CREATE TABLE IF NOT EXISTS scim_groups (
  end_user_group_id uuid PRIMARY KEY REFERENCES end_user_groups ON DELETE CASCADE,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  source text NOT NULL,
  external_id text,
  display_name text NOT NULL,
  version bigint NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS scim_groups_external ON scim_groups (tenant_id, source, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS scim_groups_listed ON scim_groups (tenant_id, source, created_at, end_user_group_id);

-- What a directory did and what it was refused, by the names of attributes and never by their values: the log outlives the
-- people it tells of.
CREATE TABLE IF NOT EXISTS provisioning_log (
  id text PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  at timestamptz NOT NULL,
  source text NOT NULL,
  token_id uuid,
  method text NOT NULL,
  resource_type text NOT NULL,
  resource_id text,
  status integer NOT NULL,
  outcome text NOT NULL,
  detail jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX IF NOT EXISTS provisioning_log_tenant ON provisioning_log (tenant_id, id);
CREATE INDEX IF NOT EXISTS provisioning_log_resource ON provisioning_log (tenant_id, resource_id, id) WHERE resource_id IS NOT NULL;
