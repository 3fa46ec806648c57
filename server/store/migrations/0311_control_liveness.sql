-- What the calls of AI Systems came to in each hour, beyond what usage tells: how long they took, and how often rules spoke.
CREATE TABLE ai_system_hours (
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  ai_system_id uuid NOT NULL REFERENCES ai_systems ON DELETE CASCADE,
  hour timestamptz NOT NULL,
  calls bigint NOT NULL,
  -- Calls of models that were answered, and the sum of the logarithms of their milliseconds.
  timed bigint NOT NULL,
  log_ms double precision NOT NULL,
  refused bigint NOT NULL,
  guarded bigint NOT NULL,
  PRIMARY KEY (ai_system_id, hour)
);

-- When each control of an AI System last gave a sign of life on its rows, and how many calls went by since.
CREATE TABLE ai_system_controls (
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  ai_system_id uuid NOT NULL REFERENCES ai_systems ON DELETE CASCADE,
  control text NOT NULL,
  looked bigint NOT NULL,
  calls bigint NOT NULL,
  since_last bigint NOT NULL,
  last_seen timestamptz NOT NULL,
  last_row text NOT NULL,
  PRIMARY KEY (ai_system_id, control)
);
