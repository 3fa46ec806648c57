-- What providers want sent back with a tool call and the caller's format has no place for, until it may be forgotten. The
-- name is an HMAC of the caller's scope and the call's id; what is kept is sealed for that name.

CREATE TABLE kept_signatures (
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  name text NOT NULL,
  sealed text NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, name)
);
CREATE INDEX kept_signatures_expiry ON kept_signatures (expires_at);
