import { createHash } from "node:crypto";
import { A2A_SUBTYPES } from "../a2a/audit-subtypes.ts";
import type { CallFacts } from "./call-facts.ts";
import { providerName } from "./gen-ai-names.ts";

/** Exports a governed call as an OpenTelemetry span (GenAI conventions), without content: no prompts, answers or arguments. */

const OPERATIONS: Readonly<Record<string, string>> = {
  chat_completions: "chat",
  responses: "chat",
  anthropic_messages: "chat",
  completions: "text_completion",
  embeddings: "embeddings",
  knowledge_embedding: "embeddings",
  semantic_cache_embedding: "embeddings",
  gemini_embed_content: "embeddings",
  gemini_batch_embed_contents: "embeddings",
  gemini_generate_content: "generate_content",
  gemini_stream_generate_content: "generate_content",
};

const A2A_METHODS: ReadonlyMap<string, string> = new Map(Object.entries(A2A_SUBTYPES).map(([method, subtype]) => [subtype, method]));
/** Methods that make the agent act; the task methods only manage its tasks. */
const INVOKES_AGENT = new Set(["SendMessage", "SendStreamingMessage"]);

const a2aMethodOf = ({ proxy_type: type, proxy_subtype: subtype }: CallFacts): string | undefined =>
  type === "a2a" ? A2A_METHODS.get(subtype ?? "") : undefined;

/** The operation name by the conventions; null if they define none. */
export function operationOf(facts: CallFacts): string | null {
  const { proxy_subtype: subtype, mcp_method: method } = facts;
  if (method === "tools/call") return "execute_tool";
  if (INVOKES_AGENT.has(a2aMethodOf(facts) ?? "")) return "invoke_agent";
  if (subtype === null || subtype === undefined) return null;
  return OPERATIONS[subtype] ?? null;
}

const SERVER = 2;
const CLIENT = 3;
const ERROR = 2;
const hexOf = (text: string, length: number) => createHash("sha256").update(text).digest("hex").slice(0, length);

/** The caller's trace, otherwise one shared by all calls of the run. */
export function traceIdOf({ trace_id: given, root_task_id: run, tenant_id: tenant, id }: CallFacts): string {
  return given ?? hexOf(run == null ? `call ${id}` : `run ${tenant} ${run}`, 32);
}

const spanIdOf = (callId: string) => hexOf(`span ${callId}`, 16);

function parentOf({ parent_request_id: parent, trace_id: trace, span_id: span }: CallFacts): string | null {
  if (parent != null) return spanIdOf(parent);
  return trace == null ? null : (span ?? null);
}

/** Nanoseconds since the epoch, from a timestamp with microseconds. */
function nanosOf(timestamp: string): bigint {
  const seconds = BigInt(Math.floor(Date.parse(timestamp) / 1000));
  const micros = /\.(\d{6})/.exec(timestamp)?.[1] ?? "0";
  return seconds * 1_000_000_000n + BigInt(micros) * 1_000n;
}

type Value = { stringValue: string } | { intValue: string } | { doubleValue: number } | { boolValue: boolean };

export interface Attribute {
  readonly key: string;
  readonly value: Value;
}

/** Always sent as doubles, even if integral: trace stores fix an attribute's type by its first value. */
const DOUBLES = new Set(["gatehouse.cost.usd"]);

function valueOf(key: string, value: string | number | boolean): Value {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isInteger(value) && !DOUBLES.has(key) ? { intValue: String(value) } : { doubleValue: value };
}

/** Leaves out attributes without a value. */
export function sentAttributes(named: Readonly<Record<string, string | number | boolean | null | undefined>>): Attribute[] {
  return Object.entries(named).flatMap(([key, value]) => (value == null ? [] : [{ key, value: valueOf(key, value) }]));
}

export function spanOfCall(facts: CallFacts): object {
  const { id = "", timestamp, duration_ms: duration } = facts;
  const operation = operationOf(facts);
  const about = facts.llm_model_used ?? facts.llm_model_requested ?? facts.mcp_capability_name;
  const what = operation ?? a2aMethodOf(facts) ?? facts.mcp_method ?? facts.proxy_subtype ?? facts.proxy_type ?? "call";
  const start = nanosOf(timestamp ?? "");
  const parent = parentOf(facts);
  return {
    traceId: traceIdOf(facts),
    spanId: spanIdOf(id ?? ""),
    ...(parent === null ? {} : { parentSpanId: parent }),
    name: about == null ? what : `${what} ${about}`,
    kind: facts.parent_request_id == null ? SERVER : CLIENT,
    startTimeUnixNano: String(start),
    endTimeUnixNano: String(start + BigInt(Math.round((duration ?? 0) * 1_000_000))),
    attributes: sentAttributes({
      "gen_ai.operation.name": operation,
      "gen_ai.provider.name": providerName(facts.llm_provider),
      "gen_ai.request.model": facts.llm_model_requested,
      "gen_ai.response.model": facts.llm_model_used,
      "gen_ai.request.stream": facts.llm_streaming,
      "gen_ai.usage.input_tokens": facts.llm_prompt_tokens,
      "gen_ai.usage.output_tokens": facts.llm_completion_tokens,
      "gen_ai.usage.cache_read.input_tokens": facts.prompt_cache_read_tokens,
      "gen_ai.usage.cache_write.input_tokens": facts.prompt_cache_write_tokens,
      "gen_ai.tool.name": facts.mcp_method === "tools/call" ? facts.mcp_capability_name : null,
      "gen_ai.prompt.name": facts.mcp_method === "prompts/get" ? facts.mcp_capability_name : null,
      "gen_ai.agent.id": facts.actor_agent_id,
      "mcp.method.name": facts.mcp_method,
      "a2a.method.name": a2aMethodOf(facts),
      "a2a.protocol.version": facts.a2a_protocol_version,
      "http.request.method": facts.http_method,
      "url.path": facts.endpoint,
      "http.response.status_code": facts.http_status_code,
      "error.type": facts.success === false ? (facts.error_type ?? "_OTHER") : null,
      "gatehouse.call.id": id,
      "gatehouse.call.type": facts.proxy_type,
      "gatehouse.call.subtype": facts.proxy_subtype,
      "gatehouse.tenant.id": facts.tenant_id,
      "gatehouse.resource_group.id": facts.resource_group_id,
      "gatehouse.run.id": facts.root_task_id,
      "gatehouse.correlation.id": facts.correlation_id,
      "gatehouse.tool_server.id": facts.server_id,
      "gatehouse.cost.usd": facts.llm_estimated_cost_usd,
      "gatehouse.fallback": facts.llm_used_fallback,
      "gatehouse.cache.hit": facts.llm_cache_hit,
      "gatehouse.guardrail.blocked": facts.guardrail_blocked,
      "gatehouse.guardrail.action": facts.guardrail_action,
      "gatehouse.argument_policy.denied": facts.argument_policy_denied,
    }),
    status: facts.success === false ? { code: ERROR, message: facts.error_type ?? "" } : {},
  };
}
