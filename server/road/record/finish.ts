import { ERRORS, explained, type Refusal, TOOL_DENIALS } from "../../kernel/errors.ts";
import { usdFromMicros } from "../../kernel/money.ts";
import { sha256Hex } from "../../kernel/secrets.ts";
import { inputTokens } from "../../wire/usage.ts";
import type { WholeAnswer } from "../answer.ts";
import { abortReason, type Call } from "../call.ts";
import { routeOf } from "../target.ts";
import { complianceTags } from "./compliance-tags.ts";
import { storedBodies, previewOf, type StoreBodies } from "./content.ts";
import { sanitisedHeaders } from "./headers.ts";
import { isUnauthenticated, trimUnauthenticatedRow } from "./unauthenticated.ts";

/** The outcome of a call, as its row records it. */
export interface CallOutcome {
  /** Status sent to the caller. */
  readonly status: number;
  readonly errorType: string | null;
  readonly errorMessage: string | null;
}

export function callOutcome(refusal: Refusal): CallOutcome {
  // Kinds of credential failure are distinguished on the row only: there the reason becomes the error type, which the caller does not see.
  const { status } = ERRORS[refusal.code];
  return refusal.code === "unauthenticated"
    ? { status, errorType: refusal.reason ?? refusal.code, errorMessage: refusal.message }
    : { status, errorType: refusal.code, errorMessage: explained(refusal) };
}

/** The answer as sent: its hash and what may be stored of it. */
export interface SentAnswer {
  readonly bytes: number;
  readonly hash: string;
  readonly preview: string | null;
  readonly headers: Record<string, string>;
}

/** A whole answer. `stored`: what may be stored of it. */
export function wholeSent({ hidden }: Call, body: Uint8Array, stored: StoreBodies, headers: Record<string, string>): SentAnswer {
  return { bytes: body.byteLength, hash: sha256Hex(body), preview: previewOf(body, stored, hidden), headers };
}

/** Completes the row; nothing is added to it afterwards. `sent` is null if no answer was sent. */
export function closeRecord(call: Call, outcome: CallOutcome, sent: SentAnswer | null): void {
  const { row } = call;
  for (const note of call.beforeRecord) note();
  row.http_status_code = outcome.status;
  row.success = outcome.errorType === null;
  row.error_type = outcome.errorType;
  if (outcome.errorType !== null && TOOL_DENIALS.has(outcome.errorType)) row.agent_authz_decision = "deny";
  const { hidden = (text: string) => text } = call;
  row.error_message = outcome.errorMessage === null ? null : hidden(outcome.errorMessage).slice(0, 1000);
  row.duration_ms = Math.round(performance.now() - call.arrivedAt);
  row.response_size_bytes = sent?.bytes ?? null;
  row.response_content_hash = sent?.hash ?? null;
  row.response_body_preview = sent?.preview ?? null;
  noteAttempts(call);
  row.compliance_tags = complianceTags(row, call) ?? row.compliance_tags ?? null;
  if (isUnauthenticated(call)) {
    trimUnauthenticatedRow(call);
    return;
  }
  row.response_headers = sent === null ? null : sanitisedHeaders(sent.headers);
  noteRequest(call);
}

/** Records what is stored of the request. Done while waiting for an upstream, so that it adds no latency. */
export function noteRequest(call: Call): void {
  const { row, requestContent } = call;
  if (call.notedContent === requestContent) return;
  call.notedContent = requestContent;
  row.request_headers = sanitisedHeaders(call.headers.all);
  if (requestContent !== null) row.request_content_hash ??= sha256Hex(requestContent);
  row.request_body_preview = requestContent === null ? null : previewOf(requestContent, storedBodies(call));
}

/**
 * Lists the attempts if there were several or a single one failed; one that served is described by the row's own fields. An answer from the
 * cache to a routing group lists them too, to show that the member named was not asked.
 */
export function noteAttempts(call: Call): void {
  const { row, attempts } = call;
  const unasked = row.llm_cache_hit === true && routeOf(call)?.group != null;
  if (attempts.length < 2 && (attempts[0]?.outcome ?? "served") === "served" && !unasked) return;
  const attemptFacts = attempts.map(({ model, provider, outcome, status, durationMs, usage, costMicros }) => ({
    model,
    provider,
    outcome,
    status,
    duration_ms: durationMs,
    ...(usage === null
      ? {}
      : {
          prompt_tokens: inputTokens(usage),
          completion_tokens: usage.output,
          cost_usd: costMicros === null ? null : usdFromMicros(costMicros),
        }),
  }));
  row.custom_metadata = { ...(row.custom_metadata as object | null | undefined), attempts: attemptFacts };
}

/** The outcome of a whole answer. */
export function answeredOutcome({ status, failure }: WholeAnswer): CallOutcome {
  return { status, errorType: failure === null ? null : "upstream_rejected", errorMessage: failure };
}

/** The outcome of a refusal. If the caller disconnected or the gateway stopped in the meantime, that is recorded instead. */
export function refusedOutcome(call: Call, refusal: Refusal): CallOutcome {
  const why = abortReason(call);
  if (why === "client_disconnected") return { status: 499, errorType: why, errorMessage: "the caller hung up before the answer" };
  if (why === "gateway_interrupted") return { status: 503, errorType: why, errorMessage: "the gateway stopped before the answer" };
  if (call.endedBy !== undefined && why === "access_ended") return callOutcome(call.endedBy);
  if (why === "access_ended") return { status: 403, errorType: why, errorMessage: "the caller was shut out before the answer" };
  return callOutcome(refusal);
}
