-- Where people sign in, and whose tokens calls may come with, other than the gateway's own. `settings` is what the record
-- shows beside its columns; the secret stands apart, sealed.
CREATE TABLE IF NOT EXISTS identity_providers (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('oidc', 'saml')),
  name text NOT NULL,
  audience text NOT NULL CHECK (audience IN ('portal', 'admin', 'api')),
  enabled boolean NOT NULL DEFAULT true,
  settings jsonb NOT NULL,
  client_secret_sealed text,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (tenant_id, name)
);

-- Who somebody is at a provider, by the key that never changes there.
CREATE TABLE IF NOT EXISTS external_identities (
  provider_id uuid NOT NULL REFERENCES identity_providers ON DELETE CASCADE,
  subject text NOT NULL,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  end_user_id uuid REFERENCES end_users ON DELETE CASCADE,
  admin_user_id uuid REFERENCES admin_users ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_login timestamptz,
  PRIMARY KEY (provider_id, subject),
  CHECK (num_nonnulls(end_user_id, admin_user_id) = 1)
);
CREATE INDEX IF NOT EXISTS external_identities_end_user ON external_identities (end_user_id) WHERE end_user_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS external_identities_admin ON external_identities (admin_user_id) WHERE admin_user_id IS NOT NULL;

-- Sign-ins under way: begun here, and ended once by whoever began them. `kind`: `state`, or `code`, which the page that a
-- sign-in ends on changes for a token.
CREATE TABLE IF NOT EXISTS sign_on_steps (
  step_hash text PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('state', 'code')),
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  provider_id uuid NOT NULL REFERENCES identity_providers ON DELETE CASCADE,
  binding_hash text NOT NULL,
  sealed text NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX IF NOT EXISTS sign_on_steps_provider ON sign_on_steps (provider_id);
CREATE INDEX IF NOT EXISTS sign_on_steps_expiry ON sign_on_steps (expires_at);

-- What is good once: ids of assertions and of logout tokens, until they are no longer good anyway.
CREATE TABLE IF NOT EXISTS sign_on_used (
  provider_id uuid NOT NULL REFERENCES identity_providers ON DELETE CASCADE,
  used_id text NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (provider_id, used_id)
);
CREATE INDEX IF NOT EXISTS sign_on_used_expiry ON sign_on_used (expires_at);

-- local_passwords: whether people of the tenant may sign in with a password of the gateway's. break_glass: an administrator
-- who may all the same.
ALTER TABLE tenants ADD COLUMN IF NOT EXISTS local_passwords boolean NOT NULL DEFAULT true;
ALTER TABLE admin_users ADD COLUMN IF NOT EXISTS break_glass boolean NOT NULL DEFAULT false;
