-- AI Systems: resource groups seen as agents or applications, what may hold them back, and what speaks for them.

-- The id is that of the resource group. autonomy_level and restrictions are what its envelope declares.
CREATE TABLE ai_systems (
  id uuid PRIMARY KEY REFERENCES resource_groups ON DELETE CASCADE,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  owner text,
  purpose text,
  role text,
  risk_class text,
  data_classes text[],
  affected_people text,
  oversight_person text,
  interacts_with_people boolean,
  lifecycle_state text NOT NULL DEFAULT 'registered',
  lifecycle_since timestamptz NOT NULL DEFAULT now(),
  autonomy_level text NOT NULL DEFAULT 'autonomous',
  restrictions jsonb,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ai_systems_tenant ON ai_systems (tenant_id);

-- Documents elsewhere, by address and digest.
CREATE TABLE ai_system_evidence (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  ai_system_id uuid NOT NULL REFERENCES ai_systems ON DELETE CASCADE,
  kind text NOT NULL,
  uri text NOT NULL,
  sha256 text NOT NULL,
  title text,
  assessor text,
  valid_from timestamptz,
  valid_until timestamptz,
  attached_by text,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ai_system_evidence_system ON ai_system_evidence (ai_system_id);

-- What a system may do, as its live configuration said when the version was minted. content is canonical JSON text, kept as
-- it was hashed. At most one version of a system is active.
CREATE TABLE ai_contracts (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  ai_system_id uuid NOT NULL REFERENCES ai_systems ON DELETE CASCADE,
  version bigint NOT NULL,
  state text NOT NULL,
  digest text NOT NULL,
  content text NOT NULL,
  note text,
  minted_by text,
  minted_by_id text,
  approvals jsonb NOT NULL DEFAULT '[]',
  required_approvals bigint NOT NULL DEFAULT 1,
  decision jsonb,
  approved_at timestamptz,
  promoted_at timestamptz,
  ended_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (ai_system_id, version)
);
CREATE UNIQUE INDEX ai_contracts_active ON ai_contracts (ai_system_id) WHERE state = 'active';
