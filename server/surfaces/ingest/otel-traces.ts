import { EMPTY_VIEW } from "../../road/request/empty-view.ts";
import type { TraceIngest } from "../../services/ingest/trace-ingest.ts";
import type { Surface } from "../../road/surface.ts";
import { jsonAnswer, type WholeAnswer } from "../../road/answer.ts";
import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import { ambiguityOf, ambiguousName } from "../../wire/json/ambiguous-name.ts";
import type { JsonValue } from "../../kernel/json-value.ts";
import { type DecodedTraces, decodeTraces } from "../../wire/otlp/traces.ts";
import { messageOf } from "../llm/refusals.ts";

/** Most spans per request; larger exports should be split. */
const MAX_SPANS = 10_000;

const encoder = new TextEncoder();

/** POST /v1/ingest/otel/v1/traces: OTLP over HTTP in JSON. Errors carry a google.rpc.Status body, as the protocol says. */
export function otelTraces(inlet: TraceIngest): Surface {
  return {
    refusal: (refusal) => ({
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ message: messageOf(refusal), details: [{ code: refusal.code }] }),
    }),
    streamError: (refusal) => encoder.encode(messageOf(refusal)),
    read(call, body) {
      if (!/^application\/json\s*(?:;|$)/i.test(call.headers.get("content-type") ?? ""))
        return refuse("unsupported_media_type", "Send OTLP as application/json; protobuf is not taken here.");
      const decoded = decode(body ?? new Uint8Array());
      if (isRefusal(decoded)) return decoded;
      if (decoded.spans.length > MAX_SPANS) return refuse("body_too_large", `A request may hold at most ${MAX_SPANS} spans.`);
      return {
        view: EMPTY_VIEW,
        async answer(inbound) {
          const taken = await inlet.accept(inbound, decoded.spans);
          if (isRefusal(taken)) return taken;
          inbound.row.custom_metadata = {
            ...(inbound.row.custom_metadata as object | undefined),
            spans_recorded: taken.recorded,
            spans_rejected: decoded.rejected.length,
          };
          return partialSuccess(decoded.rejected);
        },
      };
    },
  };
}

function decode(body: Uint8Array): DecodedTraces | Refusal {
  try {
    const value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body)) as JsonValue;
    const unclear = ambiguousName(value);
    if (unclear !== null) return refuse("ambiguous_name", ambiguityOf(unclear));
    return decodeTraces(value) ?? refuse("invalid_body", "The body is no ExportTraceServiceRequest.");
  } catch {
    return refuse("invalid_body", "The body is not JSON.");
  }
}

function partialSuccess(rejected: readonly string[]): WholeAnswer {
  const answer =
    rejected.length === 0
      ? {}
      : { partialSuccess: { rejectedSpans: String(rejected.length), errorMessage: rejected.slice(0, 5).join("; ") } };
  return jsonAnswer(answer);
}
