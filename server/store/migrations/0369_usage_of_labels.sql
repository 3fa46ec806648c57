-- Usage by the labels that callers give their calls, by the hour and combination, beside `usage_hourly`: a call counts once for each label.
CREATE TABLE labelled_usage_hourly (
  tenant_id text NOT NULL,
  hour timestamptz NOT NULL,
  label text NOT NULL,
  value text NOT NULL,
  resource_group_id text NOT NULL,
  api_key_id text NOT NULL,
  llm_model_used text NOT NULL,
  requests bigint NOT NULL,
  errors bigint NOT NULL,
  prompt_tokens bigint NOT NULL,
  completion_tokens bigint NOT NULL,
  cost_micro_usd bigint NOT NULL,
  unpriced_requests bigint NOT NULL,
  PRIMARY KEY (tenant_id, hour, label, value, resource_group_id, api_key_id, llm_model_used)
);

-- The header with the labels of the call that began them, for the rows of what follows.
ALTER TABLE batch_jobs ADD COLUMN labels text;
ALTER TABLE video_jobs ADD COLUMN labels text;
ALTER TABLE stored_responses ADD COLUMN labels text;
