-- Who signed in by an identity provider, as the provider will name them when it signs them out. Names are hashes: nothing
-- but a name that comes back is ever compared with them.
CREATE TABLE sign_on_sessions (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  provider_id uuid NOT NULL REFERENCES identity_providers ON DELETE CASCADE,
  end_user_id uuid REFERENCES end_users ON DELETE CASCADE,
  admin_user_id uuid REFERENCES admin_users ON DELETE CASCADE,
  subject_hash text NOT NULL,
  session_hash text,
  -- What the provider is shown to be asked to sign out; only where it is to be asked.
  id_token_sealed text,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  CHECK ((end_user_id IS NULL) <> (admin_user_id IS NULL))
);
CREATE INDEX sign_on_sessions_subject ON sign_on_sessions (provider_id, subject_hash);
CREATE INDEX sign_on_sessions_session ON sign_on_sessions (provider_id, session_hash) WHERE session_hash IS NOT NULL;
CREATE INDEX sign_on_sessions_end_user ON sign_on_sessions (end_user_id) WHERE end_user_id IS NOT NULL;
CREATE INDEX sign_on_sessions_admin_user ON sign_on_sessions (admin_user_id) WHERE admin_user_id IS NOT NULL;
CREATE INDEX sign_on_sessions_tenant ON sign_on_sessions (tenant_id);
CREATE INDEX sign_on_sessions_expires ON sign_on_sessions (expires_at);

-- When an identity provider said that the session ends, whatever is done in it.
ALTER TABLE page_sessions ADD COLUMN ends_at timestamptz;

UPDATE identity_providers SET settings = jsonb_set(settings, '{oidc,sign_out}', 'false')
 WHERE kind = 'oidc' AND NOT settings->'oidc' ? 'sign_out';
