/** Rows `from` up to `to` of a ledger whose row `i` arrived at `startMs + i * stepMs`. */
export interface GeneratedRange {
  readonly from: number;
  readonly to: number;
  readonly startMs: number;
  readonly stepMs: number;
}

const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const TIME_DIGITS = Array.from({ length: 10 }, (_, place) => `substr('${DIGITS}', ((ms >> ${5 * (9 - place)}) & 31)::int + 1, 1)`).join(
  " || ",
);

/**
 * SQL that stores generated rows: three tenants of very different size, forty groups and thousands of users of which few
 * do most, calls of models and tools, and in most fields some values that nearly all rows have, some that one in ten
 * thousand or a hundred thousand has, and unique ones.
 */
export function generateRows(range: GeneratedRange): string {
  return `
INSERT INTO audit_rows (id, tenant_id, timestamp, created_at, proxy_type, proxy_subtype, http_method, endpoint, target_url, server_id, mcp_method, mcp_capability_name, llm_model_requested, llm_model_used, llm_provider,
 llm_prompt_tokens, llm_completion_tokens, llm_total_tokens, llm_estimated_cost_usd, llm_streaming, llm_temperature, llm_max_tokens, llm_function_calling, llm_used_fallback, llm_cache_hit, llm_cache_layer, prompt_fingerprint, api_key_id, api_key_name, resource_group_id,
 gateway_user_id, gateway_user_username, idp_user_email, actor_agent_id, end_user_session_id, client_ip, user_agent, is_auth_event, correlation_id, request_id, root_task_id, trace_continuity, trace_root_kind, step_id, turn_id, turn_seq, run_end_state, trace_id, span_id, upstream_request_id,
 request_size_bytes, response_size_bytes, request_headers, response_headers, request_body_preview, response_body_preview, request_content_hash, response_content_hash, http_status_code, success, error_type, error_message, duration_ms, guardrail_blocked, pii_detected, guardrail_config_id, guardrail_check, guardrail_action, residency_class, deciding_model, chain_id, chain_seq, prev_hash, row_hash, source, tags)
SELECT id, tenant, ts, ts + interval '3 ms', CASE WHEN tool THEN 'mcp' ELSE 'llm' END, CASE WHEN tool THEN 'tools_call' WHEN r1 < 0.1 THEN 'embeddings' WHEN i % 100003 = 7 THEN 'responses_rare' ELSE 'chat_completions' END, CASE WHEN i % 50021 = 3 THEN 'GET' ELSE 'POST' END,
 CASE WHEN tool THEN '/v1/mcp/' || (g % 7) WHEN r1 < 0.1 THEN '/v1/llm/embeddings' WHEN i % 200003 = 9 THEN '/v1/llm/rare' ELSE '/v1/llm/chat/completions' END, 'https://up-' || (m % 5) || '.example.com/v1', CASE WHEN tool THEN 'server-' || (g % 7) END, CASE WHEN tool THEN 'tools/call' END, CASE WHEN tool THEN 'tool_' || (m * 3 + g % 11) END,
 CASE WHEN NOT tool THEN 'model-' || m END, CASE WHEN NOT tool THEN CASE WHEN i % 100003 = 11 THEN 'model-rare' ELSE 'model-' || m END END, CASE WHEN NOT tool THEN 'prov-' || (m % 5) END,
 CASE WHEN NOT tool THEN pt END, CASE WHEN NOT tool THEN ct END, CASE WHEN NOT tool THEN pt + ct END, CASE WHEN NOT tool AND m <> 3 THEN round((pt * 2.5 + ct * 10) / 1000000.0, 6) END, CASE WHEN NOT tool THEN r2 < 0.4 END, CASE WHEN r1 < 0.3 THEN round((r2 * 10)::numeric, 0) / 10 END, CASE WHEN r2 < 0.2 THEN 1024 END, NOT tool AND r2 < 0.3, CASE WHEN NOT tool THEN i % 300 = 1 END, CASE WHEN NOT tool THEN i % 33 = 5 END, CASE WHEN i % 33 = 5 AND NOT tool THEN 'exact' END,
 CASE WHEN NOT tool THEN md5('fp' || (g * 7 + m % 4)) || md5('x' || (g * 7 + m % 4)) END, '7b1c6f0e-8f2b-4d57-9d7c-' || lpad(to_hex(key), 12, '0'), 'key ' || key, '9d2c6f0e-8f2b-4d57-9d7c-' || lpad(to_hex(g), 12, '0'),
 CASE WHEN r3 < 0.3 THEN 'aa2c6f0e-8f2b-4d57-9d7c-' || lpad(to_hex(usr), 12, '0') END, CASE WHEN r3 < 0.3 THEN 'user' || usr END, CASE WHEN r3 < 0.3 THEN 'user' || usr || '@example.com' END, CASE WHEN g % 4 = 0 THEN 'agent-' || g END, CASE WHEN r3 < 0.2 THEN md5('s' || (usr * 3 + (i / 200000) % 5)) END, '10.' || (usr % 200) || '.' || (usr / 200 % 100) || '.' || (g % 9), 'client/' || (usr % 30) || '.0', i % 5000 = 77,
 id, CASE WHEN r2 < 0.5 THEN md5('q' || i) END, md5('run' || (i / 4)), CASE WHEN g % 4 = 0 THEN 'client_asserted' ELSE 'minted' END, 'external_api', CASE WHEN g % 8 = 0 THEN 'step-' || (i % 12) END, CASE WHEN g % 4 = 0 THEN md5('t' || (i / 2)) END, CASE WHEN g % 4 = 0 THEN i % 4 END, CASE WHEN g % 4 = 0 AND i % 40 = 39 THEN 'completed' END,
 CASE WHEN r3 > 0.8 THEN md5('tr' || (i / 4)) END, CASE WHEN r3 > 0.8 THEN substr(md5('sp' || i), 1, 16) END, CASE WHEN NOT tool THEN 'req_' || md5('u' || i) END, 400 + (r2 * 9000)::int, 300 + (r3 * 5000)::int, jsonb_build_object('content-type', 'application/json', 'user-agent', 'client/' || (usr % 30) || '.0'), jsonb_build_object('content-type', 'application/json', 'x-request-id', id),
 '{"model":"model-' || m || '"}', '{"choices":[]}', h1 || h1, h2 || h1, st, st = 200, CASE st WHEN 200 THEN NULL WHEN 429 THEN 'rate_limited' WHEN 500 THEN 'upstream_error' WHEN 403 THEN 'guardrail_blocked' ELSE 'teapot' END, CASE WHEN st <> 200 THEN 'status ' || st END, (exp(r3 * 7))::int, st = 403, r1 < 0.01, CASE WHEN st = 403 THEN 'cfg-' || (g % 3) END, CASE WHEN st = 403 THEN CASE WHEN i % 9001 = 1 THEN 'jailbreak' ELSE 'pii' END END, CASE WHEN st = 403 THEN 'block' END, 'not_evaluated', CASE WHEN tool THEN 'model-' || m END, 'chain-' || (i % 2), i / 2 + 1, h2 || h2, h1 || h2, CASE WHEN i % 5003 = 5 THEN 'otel' ELSE 'gateway' END, CASE WHEN i % 20011 = 4 THEN '["late"]'::jsonb END
FROM (SELECT *, r4 < 0.1 AS tool, ${TIME_DIGITS} || upper(substr(h1, 1, 16)) AS id, (timestamptz 'epoch' + ms * interval '1 ms' + (i % 1000) * interval '1 us') AS ts, CASE WHEN i % 1000 = 500 THEN 't3c6f0e0-8f2b-4d57-9d7c-0d9b6f0c6f0e' WHEN i % 10 = 3 THEN 't2c6f0e0-8f2b-4d57-9d7c-0d9b6f0c6f0e' ELSE 't1c6f0e0-8f2b-4d57-9d7c-0d9b6f0c6f0e' END AS tenant,
   (power(r5, 3) * 40)::int AS g, (power(r5, 3) * 40)::int * 10 + (r6 * 10)::int AS key, (power(r6, 2) * 5000)::int AS usr, (power(r2, 2) * 12)::int AS m, 20 + (power(r3, 4) * 20000)::int AS pt, 1 + (r1 * r2 * 2000)::int AS ct,
   CASE WHEN r7 < 0.96 THEN 200 WHEN r7 < 0.985 THEN 429 WHEN r7 < 0.995 THEN 500 WHEN i % 500009 = 17 THEN 418 ELSE 403 END AS st
  FROM (SELECT i, (${range.startMs} + i * ${range.stepMs}::float8)::bigint AS ms, md5(i::text) AS h1, md5('b' || i) AS h2, random() r1, random() r2, random() r3, random() r4, random() r5, random() r6, random() r7 FROM generate_series(${range.from}::bigint, ${range.to - 1}::bigint) i) base) x`;
}
