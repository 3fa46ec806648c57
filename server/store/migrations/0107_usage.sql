-- Truth of consumption, added up in the transaction that stores the rows: counters are warmed and reconciled from it.
-- '' stands for absence, because these columns are the keys.

-- One row per hour and combination.
CREATE TABLE usage_hourly (
  tenant_id text NOT NULL,
  hour timestamptz NOT NULL,
  resource_group_id text NOT NULL,
  api_key_id text NOT NULL,
  llm_model_used text NOT NULL,
  requests bigint NOT NULL,
  errors bigint NOT NULL,
  prompt_tokens bigint NOT NULL,
  completion_tokens bigint NOT NULL,
  cost_micro_usd bigint NOT NULL,
  unpriced_requests bigint NOT NULL,
  PRIMARY KEY (tenant_id, hour, resource_group_id, api_key_id, llm_model_used)
);

-- The same by the day, from which most counters are warmed.
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

-- What each model was asked and what it used: of a call that tried several, each its part. Of a model that is gone the
-- name stands for the id.
CREATE TABLE model_usage_daily (
  tenant_id text NOT NULL,
  day date NOT NULL,
  resource_group_id text NOT NULL,
  model_id text NOT NULL,
  requests bigint NOT NULL,
  tokens bigint NOT NULL,
  cost_micro_usd bigint NOT NULL,
  PRIMARY KEY (tenant_id, day, resource_group_id, model_id)
);

-- Results of tool calls that requests to models carried, where a cap counts them; '' stands for all models.
CREATE TABLE tool_results_hourly (
  tenant_id text NOT NULL,
  hour timestamptz NOT NULL,
  resource_group_id text NOT NULL,
  model_id text NOT NULL,
  results bigint NOT NULL,
  PRIMARY KEY (tenant_id, hour, resource_group_id, model_id)
);

-- Calls of tool servers by the hour.
CREATE TABLE tool_usage_hourly (
  tenant_id text NOT NULL,
  hour timestamptz NOT NULL,
  resource_group_id text NOT NULL,
  server_id text NOT NULL,
  calls bigint NOT NULL,
  PRIMARY KEY (tenant_id, hour, resource_group_id, server_id)
);
