-- Whether strangers may register themselves in a tenant's portal.
ALTER TABLE tenants ADD COLUMN portal_registration text NOT NULL DEFAULT 'open' CHECK (portal_registration IN ('open', 'closed'));

ALTER TABLE end_users
  -- Tokens issued before this are void.
  ADD COLUMN tokens_valid_from timestamptz NOT NULL DEFAULT now(),
  -- The group an administrator put the user in. The primary group is the user's own choice among all their groups.
  ADD COLUMN assigned_group_id uuid REFERENCES resource_groups ON DELETE SET NULL,
  ADD COLUMN totp_secret_sealed text,
  -- The 30-second step of the last code that was taken: a code works once.
  ADD COLUMN totp_last_step bigint;
UPDATE end_users SET assigned_group_id = primary_group_id WHERE primary_group_id IN (SELECT id FROM resource_groups);
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

CREATE TABLE alert_acknowledgements (
  alert_id text NOT NULL REFERENCES alerts ON DELETE CASCADE,
  end_user_id uuid NOT NULL REFERENCES end_users ON DELETE CASCADE,
  acknowledged_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (alert_id, end_user_id)
);

CREATE TABLE run_feedback (
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  root_task_id text NOT NULL,
  end_user_id uuid NOT NULL REFERENCES end_users ON DELETE CASCADE,
  score integer NOT NULL CHECK (score IN (1, -1)),
  comment text,
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, root_task_id, end_user_id)
);
