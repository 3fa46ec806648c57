-- Models are renamed, and what is set for one of them holds on: its use is kept by its id. A name that was given up says
-- whose it was until when, because rows know models by name and may arrive late.
CREATE TABLE former_model_names (
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  name text NOT NULL,
  until timestamptz NOT NULL,
  model_id uuid NOT NULL REFERENCES models ON DELETE CASCADE,
  PRIMARY KEY (tenant_id, name, until)
);
CREATE INDEX former_model_names_model ON former_model_names (model_id);
INSERT INTO former_model_names
SELECT l.tenant_id, l.before->>'name', l.at, m.id FROM admin_log l JOIN models m ON m.id::text = l.resource_id AND m.tenant_id = l.tenant_id
 WHERE l.resource = 'models' AND l.action = 'update' AND l.before->>'name' <> l.after->>'name'
ON CONFLICT DO NOTHING;

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

CREATE FUNCTION pg_temp.model_called(of_tenant text, called text, at timestamptz) RETURNS text LANGUAGE sql AS $$
  SELECT coalesce(
    (SELECT model_id::text FROM former_model_names WHERE tenant_id = of_tenant AND name = called AND until > at ORDER BY until LIMIT 1),
    (SELECT id::text FROM models WHERE tenant_id = of_tenant AND name = called),
    (SELECT model_id::text FROM former_model_names WHERE tenant_id = of_tenant AND name = called ORDER BY until DESC LIMIT 1),
    called)
$$;
-- Of windows that may still be open.
INSERT INTO model_usage_daily
SELECT tenant_id, day, resource_group_id, pg_temp.model_called(tenant_id, llm_model_used, day::timestamp AT TIME ZONE 'UTC'), sum(requests), sum(prompt_tokens + completion_tokens), sum(cost_micro_usd)
FROM usage_daily WHERE day >= (now() AT TIME ZONE 'UTC')::date - 32 GROUP BY 1, 2, 3, 4;
INSERT INTO tool_results_hourly
SELECT tenant_id, hour, resource_group_id, '', sum(tool_results) FROM usage_hourly WHERE tool_results > 0 AND hour > now() - interval '2 days' GROUP BY 1, 2, 3
UNION ALL
SELECT tenant_id, hour, resource_group_id, pg_temp.model_called(tenant_id, llm_model_used, hour), sum(tool_results) FROM usage_hourly WHERE tool_results > 0 AND hour > now() - interval '2 days' GROUP BY 1, 2, 3, 4;
DROP FUNCTION pg_temp.model_called;
ALTER TABLE usage_hourly DROP COLUMN tool_results;
