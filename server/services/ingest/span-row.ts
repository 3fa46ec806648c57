import type { AuditRow } from "@gatehouse/ledger-format/fields";
import { isoMicros } from "../../kernel/clock.ts";
import { sha256Hex } from "../../kernel/secrets.ts";
import { genAiFacts } from "../../wire/otlp/gen-ai.ts";
import type { Span } from "../../wire/otlp/traces.ts";
import { previewOf, type StoreBodies } from "../../road/record/content.ts";

const MAX_EXTRAS = 16 * 1024;
const MAX_TEXT = 512;

const short = (text: string | null): string | null => text?.slice(0, MAX_TEXT) ?? null;

/** What the span itself does not say. */
export interface SpanContext {
  readonly id: string;
  readonly rootTaskId: string;
  /** The row of the gateway's own call that this span describes; null if there is none. */
  readonly joinedRowId: string | null;
  readonly storeBodies: StoreBodies;
  /** Derives a session ID that is keyed to the credential, like every session ID. */
  readonly sessionOf: (conversation: string) => string;
}

/**
 * A span as an audit row: claimed by its sender, not witnessed by the gateway. Its ID is from its arrival, its timestamp is the span's
 * start. If the span describes a call the gateway carried itself, token counts are null: that call's row has them.
 */
export function spanRow(span: Span, context: SpanContext): AuditRow {
  const facts = genAiFacts(span);
  const joined = context.joinedRowId !== null;
  const tokens = (count: number | null): number | null => (joined ? null : count);
  const row: AuditRow = {
    id: context.id,
    timestamp: isoMicros(Number(span.startNanos / 1000n)),
    proxy_type: facts.kind,
    proxy_subtype: short(facts.operation),
    source: "otel",
    llm_model_requested: short(facts.modelRequested),
    llm_model_used: short(facts.modelUsed),
    llm_provider: short(facts.provider),
    llm_prompt_tokens: tokens(facts.promptTokens),
    llm_completion_tokens: tokens(facts.completionTokens),
    llm_total_tokens:
      facts.promptTokens === null && facts.completionTokens === null
        ? null
        : tokens((facts.promptTokens ?? 0) + (facts.completionTokens ?? 0)),
    prompt_cache_read_tokens: tokens(facts.cacheReadTokens),
    prompt_cache_write_tokens: tokens(facts.cacheWriteTokens),
    llm_temperature: facts.temperature,
    llm_max_tokens: facts.maxTokens,
    llm_streaming: facts.streaming,
    mcp_method: short(facts.mcpMethod),
    mcp_capability_name: short(facts.tool),
    end_user_session_id: facts.conversation === null ? null : context.sessionOf(facts.conversation),
    root_task_id: context.rootTaskId,
    trace_continuity: "external",
    trace_root_kind: "external_telemetry",
    trace_id: span.traceId,
    span_id: span.spanId,
    parent_request_id: span.parentSpanId,
    upstream_request_id: short(facts.responseId),
    success: span.statusCode !== 2 && facts.errorType === null,
    error_type: short(facts.errorType),
    error_message: (span.statusMessage ?? span.exception?.message)?.slice(0, 1000) ?? null,
    duration_ms: Number((span.endNanos - span.startNanos) / 1_000_000n),
    // Hashes of the received text, which the chain proves; that the call really had it is unproven.
    request_content_hash: facts.input === null ? null : sha256Hex(facts.input),
    response_content_hash: facts.output === null ? null : sha256Hex(facts.output),
    request_body_preview: facts.input === null ? null : previewOf(facts.input, context.storeBodies),
    response_body_preview: facts.output === null ? null : previewOf(facts.output, context.storeBodies),
    custom_metadata: {
      span_name: short(span.name),
      span_kind: span.kind,
      ...(facts.agent === null ? {} : { agent: short(facts.agent) }),
      ...(span.scope === null ? {} : { scope: short(span.scope) }),
      ...(joined ? { joined_row_id: context.joinedRowId } : {}),
      ...extras(facts.rest, context.storeBodies),
    },
  };
  return row;
}

/** Attributes without a column, up to the size limit; none if the tenant stores no bodies. */
function extras(rest: Readonly<Record<string, unknown>>, mode: StoreBodies): { attributes?: unknown } {
  if (mode === "none" || Object.keys(rest).length === 0) return {};
  const kept: Record<string, unknown> = {};
  let size = 0;
  for (const [name, value] of Object.entries(rest)) {
    const text = previewOf(JSON.stringify(value ?? null), mode) ?? "null";
    size += name.length + text.length;
    if (size > MAX_EXTRAS) return { attributes: kept };
    try {
      kept[name] = JSON.parse(text);
    } catch {
      kept[name] = text;
    }
  }
  return { attributes: kept };
}
