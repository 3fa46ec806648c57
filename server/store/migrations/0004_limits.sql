-- Limit and governance documents of resource groups, as they were written: one row for each document, with the model,
-- tool server or skill it refines, or '' when it is the group's own.
CREATE TABLE group_policies (
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  group_id uuid NOT NULL REFERENCES resource_groups ON DELETE CASCADE,
  kind text NOT NULL,
  item_id text NOT NULL DEFAULT '',
  document jsonb NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (group_id, kind, item_id)
);
CREATE INDEX group_policies_tenant ON group_policies (tenant_id);

-- Truth of consumption by the day, from which counters are warmed and reconciled. Added to where usage_hourly is.
CREATE TABLE usage_daily (
  tenant_id text NOT NULL,
  day date NOT NULL,
  resource_group_id text NOT NULL,
  llm_model_used text NOT NULL,
  requests bigint NOT NULL,
  errors bigint NOT NULL,
  prompt_tokens bigint NOT NULL,
  completion_tokens bigint NOT NULL,
  cost_micro_usd bigint NOT NULL,
  unpriced_requests bigint NOT NULL,
  PRIMARY KEY (tenant_id, day, resource_group_id, llm_model_used)
);
INSERT INTO usage_daily
SELECT tenant_id, (hour AT TIME ZONE 'UTC')::date, resource_group_id, llm_model_used,
  sum(requests), sum(errors), sum(prompt_tokens), sum(completion_tokens), sum(cost_micro_usd), sum(unpriced_requests)
FROM usage_hourly GROUP BY 1, 2, 3, 4;

-- A run's consumption is added up from its rows when a process first meets the run.
CREATE INDEX audit_rows_run ON audit_rows (tenant_id, root_task_id);

-- crossing names what was crossed: one alert for each, however many processes saw it.
CREATE TABLE alerts (
  id text PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  alert_type text NOT NULL,
  severity text NOT NULL,
  title text NOT NULL,
  message text NOT NULL,
  group_id uuid REFERENCES resource_groups ON DELETE CASCADE,
  threshold_value double precision,
  current_value double precision,
  resolved boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  resolved_at timestamptz,
  crossing text NOT NULL,
  -- When the window it tells of is over, and the alert with it; null: somebody has to resolve it.
  expires_at timestamptz,
  UNIQUE (tenant_id, crossing)
);
CREATE INDEX alerts_tenant ON alerts (tenant_id, id);

CREATE TABLE notifications (
  id text PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  end_user_id uuid NOT NULL REFERENCES end_users ON DELETE CASCADE,
  notification_type text NOT NULL,
  title text NOT NULL,
  body text NOT NULL,
  metadata jsonb NOT NULL DEFAULT '{}',
  is_read boolean NOT NULL DEFAULT false,
  read_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz
);
CREATE INDEX notifications_user ON notifications (end_user_id, id);
