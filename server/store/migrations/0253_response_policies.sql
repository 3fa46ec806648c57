-- Policies by which findings narrow what AI Systems may do, and what came of them.

-- Without a system: of every system of the tenant.
CREATE TABLE response_policies (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  ai_system_id uuid REFERENCES ai_systems ON DELETE CASCADE,
  name text NOT NULL,
  finding_kinds text[] NOT NULL,
  min_severity text NOT NULL,
  action text NOT NULL,
  mode text NOT NULL,
  ttl_seconds bigint NOT NULL,
  max_systems_per_hour bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (tenant_id, name)
);
CREATE INDEX response_policies_system ON response_policies (ai_system_id);

-- status: active, expired, restored, dry_run, or refused with why. A policy or finding that goes leaves what it did.
CREATE TABLE responses (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  ai_system_id uuid NOT NULL REFERENCES ai_systems ON DELETE CASCADE,
  policy_id uuid,
  policy_name text NOT NULL,
  finding_id uuid,
  action text NOT NULL,
  status text NOT NULL,
  reason text NOT NULL,
  fired_at timestamptz NOT NULL,
  expires_at timestamptz,
  ended_at timestamptz,
  ended_by text
);
CREATE INDEX responses_system ON responses (ai_system_id, fired_at);
CREATE INDEX responses_tenant ON responses (tenant_id);
CREATE INDEX responses_active ON responses (expires_at) WHERE status = 'active';
