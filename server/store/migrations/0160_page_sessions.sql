-- Who is signed in to the portal or the console in a browser. The cookie's secret is new after each use; the one before
-- stays known, so that two tabs that ask at once are told from somebody who stole a cookie that was used since.
CREATE TABLE page_sessions (
  id uuid PRIMARY KEY,
  tenant_id text REFERENCES tenants ON DELETE CASCADE,
  end_user_id uuid REFERENCES end_users ON DELETE CASCADE,
  admin_user_id uuid REFERENCES admin_users ON DELETE CASCADE,
  -- The holder's tokens_valid_from when it began: another value now means that it ended.
  generation timestamptz NOT NULL,
  secret_hash text NOT NULL,
  previous_hash text,
  rotated_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  CHECK ((end_user_id IS NULL) <> (admin_user_id IS NULL))
);
CREATE INDEX page_sessions_end_user ON page_sessions (end_user_id) WHERE end_user_id IS NOT NULL;
CREATE INDEX page_sessions_admin_user ON page_sessions (admin_user_id) WHERE admin_user_id IS NOT NULL;
CREATE INDEX page_sessions_expires ON page_sessions (expires_at);
