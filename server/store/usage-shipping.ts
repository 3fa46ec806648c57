import { MADE_BY_CALLER } from "./own-calls.ts";

/** What usage needs to know of a row of `audit_rows a`, beside the facts of runs. What traces tell is a claim and no consumption. */
export const USAGE_FACTS = `a.api_key_id, a.llm_model_used, a.custom_metadata->>'tool_results' AS tool_results, ${MADE_BY_CALLER} AS made_by_caller,
  a.source IS DISTINCT FROM 'otel' AND a.proxy_type = 'llm' AND a.llm_model_used IS NOT NULL AS of_models`;

/**
 * Adds the rows of `shipped`, a common table of facts, to the usage of models, as more common tables. Usage rows are taken
 * in the order of their key: two writers that add to the same ones cannot deadlock. Limits go by the totals of the day:
 * their requests are those of callers.
 */
export const ADD_USAGE = `
  fresh AS MATERIALIZED (
    SELECT tenant_id, date_trunc('hour', timestamp, 'UTC') AS hour, coalesce(resource_group_id, '') AS resource_group_id, coalesce(api_key_id, '') AS api_key_id, llm_model_used,
      count(*) AS requests, count(*) FILTER (WHERE success IS FALSE) AS errors, coalesce(sum(prompt_tokens), 0) AS prompt_tokens, coalesce(sum(completion_tokens), 0) AS completion_tokens,
      coalesce(sum(cost_micro_usd), 0) AS cost_micro_usd, count(*) FILTER (WHERE unpriced) AS unpriced_requests,
      count(*) FILTER (WHERE made_by_caller) AS made_by_callers, coalesce(sum(tool_results::bigint), 0) AS tool_results
    FROM shipped WHERE of_models GROUP BY 1, 2, 3, 4, 5
  ), daily AS (
    INSERT INTO usage_daily
    SELECT tenant_id, (hour AT TIME ZONE 'UTC')::date, resource_group_id, llm_model_used, sum(made_by_callers), sum(errors), sum(prompt_tokens), sum(completion_tokens), sum(cost_micro_usd), sum(unpriced_requests)
    FROM fresh GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
    ON CONFLICT (tenant_id, day, resource_group_id, llm_model_used) DO UPDATE SET
      requests = usage_daily.requests + excluded.requests,
      errors = usage_daily.errors + excluded.errors,
      prompt_tokens = usage_daily.prompt_tokens + excluded.prompt_tokens,
      completion_tokens = usage_daily.completion_tokens + excluded.completion_tokens,
      cost_micro_usd = usage_daily.cost_micro_usd + excluded.cost_micro_usd,
      unpriced_requests = usage_daily.unpriced_requests + excluded.unpriced_requests
  ), hourly AS (
    INSERT INTO usage_hourly
    SELECT tenant_id, hour, resource_group_id, api_key_id, llm_model_used, requests, errors, prompt_tokens, completion_tokens, cost_micro_usd, unpriced_requests, tool_results FROM fresh ORDER BY 1, 2, 3, 4, 5
    ON CONFLICT (tenant_id, hour, resource_group_id, api_key_id, llm_model_used) DO UPDATE SET
      requests = usage_hourly.requests + excluded.requests,
      errors = usage_hourly.errors + excluded.errors,
      prompt_tokens = usage_hourly.prompt_tokens + excluded.prompt_tokens,
      completion_tokens = usage_hourly.completion_tokens + excluded.completion_tokens,
      cost_micro_usd = usage_hourly.cost_micro_usd + excluded.cost_micro_usd,
      unpriced_requests = usage_hourly.unpriced_requests + excluded.unpriced_requests,
      tool_results = usage_hourly.tool_results + excluded.tool_results)`;
