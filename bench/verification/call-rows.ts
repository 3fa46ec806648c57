import type { AuditRow } from "@gatehouse/ledger-format/fields";
import { isoMicros } from "../../server/kernel/clock.ts";
import { ulid } from "../../server/kernel/ids.ts";

const TENANT = "5f0c6f0e-8f2b-4d57-9d7c-0d9b6f0c6f0e";
const WORDS = "the quick brown fox jumps over the lazy dog and tells of it at some length ";

/** Row `i` like that of a model call with a few hundred words in and out: about 3 KB with its previews. */
export function callRow(i: number): AuditRow {
  const id = ulid();
  const hex = (length: number) =>
    i
      .toString(16)
      .padStart(8, "0")
      .repeat(length / 8);
  return {
    id,
    tenant_id: TENANT,
    timestamp: isoMicros(Date.now() * 1_000 + (i % 1_000)),
    proxy_type: "llm",
    proxy_subtype: "chat_completions",
    http_method: "POST",
    endpoint: "/v1/proxy/llm/chat/completions",
    target_url: "https://api.example.com/v1/chat/completions",
    llm_model_requested: "gpt-x",
    llm_model_used: "gpt-x",
    llm_provider: "example",
    llm_prompt_tokens: 100 + (i % 400),
    llm_completion_tokens: 30 + (i % 200),
    llm_total_tokens: 130 + (i % 400) + (i % 200),
    llm_estimated_cost_usd: (100 + (i % 400)) / 1_000_000,
    llm_streaming: i % 2 === 0,
    llm_temperature: 0.2,
    llm_function_calling: false,
    llm_used_fallback: false,
    llm_cache_hit: false,
    prompt_fingerprint: hex(64),
    api_key_id: `7b1c6f0e-8f2b-4d57-9d7c-${(i % 50).toString(16).padStart(12, "0")}`,
    api_key_name: `key ${i % 50}`,
    resource_group_id: `9d2c6f0e-8f2b-4d57-9d7c-${(i % 20).toString(16).padStart(12, "0")}`,
    client_ip: `10.0.${i % 200}.7`,
    user_agent: "openai-node/6.1.0",
    is_auth_event: false,
    correlation_id: id,
    root_task_id: hex(64),
    trace_continuity: "minted",
    trace_root_kind: "external_api",
    upstream_request_id: `req_${hex(32)}`,
    request_size_bytes: 900 + (i % 400),
    response_size_bytes: 1_400 + (i % 200),
    request_headers: {
      "content-type": "application/json",
      "user-agent": "openai-node/6.1.0",
      accept: "application/json",
      host: "gateway.example.com",
    },
    response_headers: { "content-type": "application/json", "x-request-id": id },
    request_body_preview: JSON.stringify({ model: "gpt-x", messages: [{ role: "user", content: WORDS.repeat(8) }] }),
    response_body_preview: JSON.stringify({ id: "chatcmpl", choices: [{ message: { role: "assistant", content: WORDS.repeat(10) } }] }),
    request_content_hash: hex(64),
    response_content_hash: hex(64),
    http_status_code: 200,
    success: true,
    duration_ms: 300 + (i % 700),
    guardrail_blocked: false,
    argument_policy_denied: false,
    residency_class: "not_evaluated",
  };
}
