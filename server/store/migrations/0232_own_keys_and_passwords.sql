-- portal_api_keys: whether people of the tenant may make API keys of their own in the portal.
ALTER TABLE tenants ADD COLUMN IF NOT EXISTS portal_api_keys text NOT NULL DEFAULT 'off'
  CHECK (portal_api_keys IN ('off', 'on'));
-- must_change_password: whose password was chosen by somebody else may do nothing before it is replaced.
ALTER TABLE end_users ADD COLUMN IF NOT EXISTS must_change_password boolean NOT NULL DEFAULT false;
