-- What was reported of an AI System at a moment, kept as it was. content is canonical JSON text, which the digest is of.
CREATE TABLE assurance_snapshots (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  ai_system_id uuid NOT NULL REFERENCES ai_systems ON DELETE CASCADE,
  digest text NOT NULL,
  content text NOT NULL,
  result text NOT NULL,
  score bigint,
  valid_until timestamptz NOT NULL,
  captured_by text,
  revoked_at timestamptz,
  revoked_by text,
  revoke_reason text,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX assurance_snapshots_system ON assurance_snapshots (ai_system_id, created_at);
