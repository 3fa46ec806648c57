-- What AI Systems do, as their rows tell, what was normal, and where the two part.

-- How far each chain was read for what follows.
CREATE TABLE observed_chains (
  chain_id text PRIMARY KEY,
  seq bigint NOT NULL
);

-- Each thing a system was seen with: a model, the definition of a tool, a caller, a text of instructions. '' is the system itself.
CREATE TABLE ai_system_observations (
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  ai_system_id uuid NOT NULL REFERENCES ai_systems ON DELETE CASCADE,
  kind text NOT NULL,
  subject text NOT NULL,
  detail jsonb NOT NULL DEFAULT '{}',
  calls bigint NOT NULL,
  first_seen timestamptz NOT NULL,
  last_seen timestamptz NOT NULL,
  first_row text NOT NULL,
  last_row text NOT NULL,
  PRIMARY KEY (ai_system_id, kind, subject)
);

-- What was normal from a moment on, frozen. content is canonical JSON text, as it was hashed.
CREATE TABLE baseline_epochs (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  ai_system_id uuid NOT NULL REFERENCES ai_systems ON DELETE CASCADE,
  epoch bigint NOT NULL,
  digest text NOT NULL,
  content text NOT NULL,
  finding_id uuid,
  created_by text,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (ai_system_id, epoch)
);

-- Without a system: of every system of the tenant. What is seen in one is no part of what is normal.
CREATE TABLE incident_windows (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  ai_system_id uuid REFERENCES ai_systems ON DELETE CASCADE,
  title text NOT NULL,
  severity text NOT NULL,
  reason text,
  started_at timestamptz NOT NULL,
  ended_at timestamptz,
  finding_id uuid,
  declared_by text,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX incident_windows_system ON incident_windows (ai_system_id);
CREATE INDEX incident_windows_tenant ON incident_windows (tenant_id, started_at);

-- One that is open for each system, kind and subject: what recurs raises its count.
CREATE TABLE drift_findings (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  ai_system_id uuid NOT NULL REFERENCES ai_systems ON DELETE CASCADE,
  kind text NOT NULL,
  severity text NOT NULL,
  subject text NOT NULL,
  title text NOT NULL,
  detail jsonb NOT NULL DEFAULT '{}',
  status text NOT NULL DEFAULT 'open',
  occurrences bigint NOT NULL DEFAULT 1,
  first_seen timestamptz NOT NULL,
  last_seen timestamptz NOT NULL,
  first_row text,
  last_row text,
  acknowledged_at timestamptz,
  acknowledged_by text,
  closed_at timestamptz,
  closed_by text,
  resolution jsonb,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX drift_findings_open ON drift_findings (ai_system_id, kind, subject) WHERE status = 'open';
CREATE INDEX drift_findings_tenant ON drift_findings (tenant_id, last_seen);
CREATE INDEX drift_findings_system ON drift_findings (ai_system_id, last_seen);
