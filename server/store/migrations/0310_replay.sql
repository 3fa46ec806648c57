-- Pinned calls of AI Systems, and runs of them through the rules in force. content is canonical JSON text, which the digest
-- is of; it holds no content of calls, only the rows that do.
CREATE TABLE replay_suites (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  ai_system_id uuid NOT NULL REFERENCES ai_systems ON DELETE CASCADE,
  version bigint NOT NULL,
  digest text NOT NULL,
  content text NOT NULL,
  created_by text,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (ai_system_id, version)
);

CREATE TABLE replay_runs (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  ai_system_id uuid NOT NULL REFERENCES ai_systems ON DELETE CASCADE,
  suite_id uuid NOT NULL REFERENCES replay_suites ON DELETE CASCADE,
  state text NOT NULL DEFAULT 'queued',
  contract_digest text,
  models text[] NOT NULL DEFAULT '{}',
  totals jsonb,
  results jsonb NOT NULL DEFAULT '[]',
  cost_micro_usd bigint,
  error text,
  requested_by text,
  -- While it runs: when its process last said so. One that fell silent is taken up again.
  heard_of_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  started_at timestamptz,
  ended_at timestamptz
);
CREATE INDEX replay_runs_system ON replay_runs (ai_system_id, created_at);
CREATE INDEX replay_runs_open ON replay_runs (created_at) WHERE state IN ('queued', 'running');
CREATE UNIQUE INDEX replay_runs_one_at_a_time ON replay_runs (ai_system_id) WHERE state IN ('queued', 'running');

-- Why a version was promoted although its gate was not passed, and by whom.
ALTER TABLE ai_contracts ADD COLUMN gate_override jsonb;
