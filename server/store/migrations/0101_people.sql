-- The people of a tenant, the groups they are in, and the keys that they and applications call with.

-- The primary group is the user's own choice among all their groups; an administrator assigns one. Tokens issued before
-- tokens_valid_from are void.
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
  updated_at timestamptz NOT NULL DEFAULT now(),
  tokens_valid_from timestamptz NOT NULL DEFAULT now(),
  assigned_group_id uuid REFERENCES resource_groups ON DELETE SET NULL,
  totp_secret_sealed text,
  -- The 30-second step of the last code that was taken: a code works once.
  totp_last_step bigint
);
CREATE UNIQUE INDEX end_users_username ON end_users (tenant_id, lower(username));
CREATE INDEX end_users_assigned_group ON end_users (assigned_group_id) WHERE assigned_group_id IS NOT NULL;

-- A code of a user is found by its slot, so that checking one costs one hash.
CREATE TABLE end_user_backup_codes (
  end_user_id uuid NOT NULL REFERENCES end_users ON DELETE CASCADE,
  slot integer NOT NULL,
  code_hash text NOT NULL,
  used_at timestamptz,
  PRIMARY KEY (end_user_id, slot)
);

CREATE TABLE end_user_photos (
  end_user_id uuid PRIMARY KEY REFERENCES end_users ON DELETE CASCADE,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  -- Unguessable part of its address, new with each photo.
  photo_id text NOT NULL UNIQUE,
  mime_type text NOT NULL,
  content bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE end_user_groups (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  name text NOT NULL,
  display_name text,
  description text,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (tenant_id, name)
);

-- `source` says where a membership comes from: 'direct' is an administrator's, any other an external directory's.
CREATE TABLE end_user_group_members (
  group_id uuid NOT NULL REFERENCES end_user_groups ON DELETE CASCADE,
  end_user_id uuid NOT NULL REFERENCES end_users ON DELETE CASCADE,
  source text NOT NULL DEFAULT 'direct',
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (group_id, end_user_id, source)
);
CREATE INDEX end_user_group_members_user ON end_user_group_members (end_user_id);

CREATE TABLE resource_group_end_user_groups (
  resource_group_id uuid NOT NULL REFERENCES resource_groups ON DELETE CASCADE,
  end_user_group_id uuid NOT NULL REFERENCES end_user_groups ON DELETE CASCADE,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (resource_group_id, end_user_group_id)
);
CREATE INDEX resource_group_end_user_groups_other ON resource_group_end_user_groups (end_user_group_id);

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
CREATE INDEX api_keys_end_user ON api_keys (end_user_id) WHERE end_user_id IS NOT NULL;
