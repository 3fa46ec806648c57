import { IS_REQUEST } from "../models/own-calls.ts";

/** Agents that report their costs, and the tool server that searches the web. */
const COSTS_BESIDE_MODELS = `a.server_id IS NOT NULL AND (a.proxy_type = 'a2a' AND a.llm_estimated_cost_usd IS NOT NULL
    OR a.proxy_type IN ('mcp', 'virtual_mcp') AND a.llm_estimated_cost_usd > 0)`;

/**
 * What usage needs of a row of `audit_rows a`, besides the facts of runs. Traces are claims, not consumption. Costs other than those of
 * models are listed among models under their own ID, but are not model requests.
 */
export const USAGE_FACTS = `a.api_key_id, CASE WHEN a.proxy_type IN ('a2a', 'mcp', 'virtual_mcp') THEN a.server_id ELSE a.llm_model_used END AS llm_model_used, coalesce(a.custom_metadata->>'tool_calls', a.custom_metadata->>'tool_results') AS tool_results, CASE WHEN jsonb_typeof(a.custom_metadata->'attempts') = 'array' THEN a.custom_metadata->'attempts' END AS attempts, CASE WHEN jsonb_typeof(a.custom_metadata->'labels') = 'object' THEN a.custom_metadata->'labels' END AS labels, ${IS_REQUEST} AND a.proxy_type IN ('llm', 'batch') AS is_request, CASE WHEN a.proxy_type = 'batch' AND a.source = 'gateway' THEN a.custom_metadata->'batch'->>'job_id' END AS batch_job,
  a.source IS DISTINCT FROM 'otel' AND (a.proxy_type IN ('llm', 'batch') AND a.llm_model_used IS NOT NULL
    OR ${COSTS_BESIDE_MODELS}) AS of_models`;

/**
 * Each model that a call of `shipped` tried, with its usage: whatever the row does not attribute to an attempt is the last one's. A row
 * without attempts counts as one, at the model it names.
 */
const ASKED = `
  asked AS MATERIALIZED (
    SELECT tenant_id, timestamp, coalesce(resource_group_id, '') AS resource_group_id, llm_model_used AS name, is_request, tool_results,
      coalesce(prompt_tokens, 0) + coalesce(completion_tokens, 0) AS tokens, coalesce(cost_micro_usd, 0) AS cost_micro_usd
    FROM shipped WHERE of_models AND attempts IS NULL
    UNION ALL
    SELECT s.tenant_id, s.timestamp, coalesce(s.resource_group_id, ''), t.name, s.is_request, s.tool_results,
      CASE WHEN t.last THEN greatest(0, coalesce(s.prompt_tokens, 0) + coalesce(s.completion_tokens, 0) - t.other_tokens) ELSE t.tokens END,
      CASE WHEN t.last THEN greatest(0, coalesce(s.cost_micro_usd, 0) - t.other_cost) ELSE t.cost END
    FROM shipped s CROSS JOIN LATERAL (
      SELECT name, tokens, cost, no = count(*) OVER () AS last, sum(tokens) OVER () - tokens AS other_tokens, sum(cost) OVER () - cost AS other_cost
      FROM (
        SELECT no, attempt->>'model' AS name, coalesce((attempt->>'prompt_tokens')::bigint, 0) + coalesce((attempt->>'completion_tokens')::bigint, 0) AS tokens, coalesce(round((attempt->>'cost_usd')::numeric * 1000000), 0) AS cost
        FROM jsonb_array_elements(s.attempts) WITH ORDINALITY AS told (attempt, no)) each) t
    WHERE s.of_models AND s.attempts IS NOT NULL
  )`;

/** SQL: the ID of the model that had the name at the time. A gateway keeps using a former name until it learns of the new one. */
const MODEL_ID = `coalesce(
  (SELECT f.model_id::text FROM former_model_names f WHERE f.tenant_id = u.tenant_id AND f.name = u.name AND f.until > u.at ORDER BY f.until LIMIT 1),
  (SELECT m.id::text FROM models m WHERE m.tenant_id = u.tenant_id AND m.name = u.name),
  (SELECT f.model_id::text FROM former_model_names f WHERE f.tenant_id = u.tenant_id AND f.name = u.name ORDER BY f.until DESC LIMIT 1),
  u.name)`;

/** Distinct label values of a tenant within an hour that reports can have; calls with others count as if they had no label. */
const MAX_LABEL_VALUES = 1_000;

const SUMS_OF_CALLS = `count(*) AS requests, count(*) FILTER (WHERE success IS FALSE) AS errors, coalesce(sum(prompt_tokens), 0) AS prompt_tokens, coalesce(sum(completion_tokens), 0) AS completion_tokens,
      coalesce(sum(cost_micro_usd), 0) AS cost_micro_usd, count(*) FILTER (WHERE unpriced) AS unpriced_requests`;

/** SQL: adds inserted sums to those of the row that is there already. */
const addedTo = (table: string) =>
  ["requests", "errors", "prompt_tokens", "completion_tokens", "cost_micro_usd", "unpriced_requests"]
    .map((name) => `${name} = ${table}.${name} + excluded.${name}`)
    .join(", ");

/** Adds labelled calls of `shipped` to usage by label. Values that would exceed the limit are left out, those that came first are not. */
const LABELLED = `
  labelled AS MATERIALIZED (
    SELECT tenant_id, date_trunc('hour', timestamp, 'UTC') AS hour, l.key AS label, l.value, coalesce(resource_group_id, '') AS resource_group_id, coalesce(api_key_id, '') AS api_key_id, llm_model_used, ${SUMS_OF_CALLS}
    FROM shipped CROSS JOIN LATERAL jsonb_each_text(labels) l
    WHERE of_models AND labels IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6, 7
  ), label_values AS MATERIALIZED (
    SELECT v.*, EXISTS (SELECT FROM labelled_usage_hourly k WHERE k.tenant_id = v.tenant_id AND k.hour = v.hour AND k.label = v.label AND k.value = v.value) AS known
    FROM (SELECT DISTINCT tenant_id, hour, label, value FROM labelled) v
  ), fitting AS MATERIALIZED (
    SELECT tenant_id, hour, label, value FROM label_values WHERE known
    UNION ALL
    SELECT tenant_id, hour, label, value FROM (
      SELECT n.*, row_number() OVER (PARTITION BY tenant_id, hour ORDER BY label, value) + (
        SELECT count(*) FROM (SELECT DISTINCT k.label, k.value FROM labelled_usage_hourly k WHERE k.tenant_id = n.tenant_id AND k.hour = n.hour) each) AS nth
      FROM label_values n WHERE NOT known) counted
    WHERE nth <= ${MAX_LABEL_VALUES}
  ), hourly_of_labels AS (
    INSERT INTO labelled_usage_hourly
    SELECT l.* FROM labelled l JOIN fitting USING (tenant_id, hour, label, value) ORDER BY tenant_id, hour, label, value, resource_group_id, api_key_id, llm_model_used
    ON CONFLICT (tenant_id, hour, label, value, resource_group_id, api_key_id, llm_model_used) DO UPDATE SET ${addedTo("labelled_usage_hourly")}
  )`;

/**
 * CTEs that add the rows of `shipped`, a CTE of facts, to model usage. Usage rows are written in key order, so that two writers cannot
 * deadlock. Limits use the daily totals of groups and models, whose requests are only those of callers.
 */
export const ADD_USAGE = `
  batches AS (
    INSERT INTO batch_costs AS b (job_id, tenant_id, cost_micro_usd, unpriced)
    SELECT batch_job, tenant_id, coalesce(sum(cost_micro_usd), 0), count(*) FILTER (WHERE unpriced) FROM shipped WHERE batch_job IS NOT NULL GROUP BY 1, 2 ORDER BY 1
    ON CONFLICT (job_id) DO UPDATE SET cost_micro_usd = b.cost_micro_usd + excluded.cost_micro_usd, unpriced = b.unpriced + excluded.unpriced
  ),  fresh AS MATERIALIZED (
    SELECT tenant_id, date_trunc('hour', timestamp, 'UTC') AS hour, coalesce(resource_group_id, '') AS resource_group_id, coalesce(api_key_id, '') AS api_key_id, llm_model_used,
      ${SUMS_OF_CALLS},
      count(*) FILTER (WHERE is_request) AS caller_requests, coalesce(sum(tool_results::bigint), 0) AS tool_results
    FROM shipped WHERE of_models GROUP BY 1, 2, 3, 4, 5
  ), daily AS (
    INSERT INTO usage_daily
    SELECT tenant_id, (hour AT TIME ZONE 'UTC')::date, resource_group_id, llm_model_used, sum(caller_requests), sum(errors), sum(prompt_tokens), sum(completion_tokens), sum(cost_micro_usd), sum(unpriced_requests)
    FROM fresh GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
    ON CONFLICT (tenant_id, day, resource_group_id, llm_model_used) DO UPDATE SET ${addedTo("usage_daily")}
  ), hourly AS (
    INSERT INTO usage_hourly
    SELECT tenant_id, hour, resource_group_id, api_key_id, llm_model_used, requests, errors, prompt_tokens, completion_tokens, cost_micro_usd, unpriced_requests FROM fresh ORDER BY 1, 2, 3, 4, 5
    ON CONFLICT (tenant_id, hour, resource_group_id, api_key_id, llm_model_used) DO UPDATE SET ${addedTo("usage_hourly")}
  ), ${LABELLED}, ${ASKED}, of_model AS MATERIALIZED (
    SELECT tenant_id, hour, resource_group_id, ${MODEL_ID} AS model_id, requests, tokens, cost_micro_usd, tool_results FROM (
      SELECT tenant_id, date_trunc('hour', timestamp, 'UTC') AS hour, resource_group_id, name, min(timestamp) AS at,
        count(*) FILTER (WHERE is_request) AS requests, sum(tokens) AS tokens, sum(cost_micro_usd) AS cost_micro_usd, coalesce(sum(tool_results::bigint), 0) AS tool_results
      FROM asked GROUP BY 1, 2, 3, 4) u
  ), daily_of_models AS (
    INSERT INTO model_usage_daily
    SELECT tenant_id, (hour AT TIME ZONE 'UTC')::date, resource_group_id, model_id, sum(requests), sum(tokens), sum(cost_micro_usd)
    FROM of_model GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
    ON CONFLICT (tenant_id, day, resource_group_id, model_id) DO UPDATE SET
      requests = model_usage_daily.requests + excluded.requests,
      tokens = model_usage_daily.tokens + excluded.tokens,
      cost_micro_usd = model_usage_daily.cost_micro_usd + excluded.cost_micro_usd
  ), results AS (
    INSERT INTO tool_results_hourly
    SELECT tenant_id, hour, resource_group_id, model_id, sum(tool_results) FROM (
      SELECT tenant_id, hour, resource_group_id, '' AS model_id, tool_results FROM fresh UNION ALL SELECT tenant_id, hour, resource_group_id, model_id, tool_results FROM of_model) each
    WHERE tool_results > 0 GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
    ON CONFLICT (tenant_id, hour, resource_group_id, model_id) DO UPDATE SET results = tool_results_hourly.results + excluded.results)`;
