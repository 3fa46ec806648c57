import { endOfTurn, type StopReason } from "../conversation/reply.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";

const STOPS: Readonly<Record<string, StopReason>> = {
  end_turn: "end",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_call",
  stop_sequence: "stop_sequence",
  content_filtered: "filtered",
  guardrail_intervened: "filtered",
  refusal: "refusal",
  pause_turn: "pause",
  malformed_tool_use: "malformed",
  malformed_model_output: "malformed",
};

/** Reasons passed to the caller in Bedrock's wording, because the neutral one is less specific; so are unknown reasons. */
const DETAILED = new Set([
  "model_context_window_exceeded",
  "content_filtered",
  "guardrail_intervened",
  "malformed_tool_use",
  "malformed_model_output",
]);

export interface ConverseStop {
  readonly reason: StopReason;
  readonly stopSequence: string | null;
  readonly stopDetail: string | null;
}

/** The stop reason of an answer or of a stream's `messageStop`, which have the same two members. */
export function converseStop(body: JsonObject, calledTools: boolean): ConverseStop {
  const stopReason = typeof body.stopReason === "string" ? body.stopReason : "";
  const extra = body.additionalModelResponseFields;
  const sequence = isObject(extra) && typeof extra.stop_sequence === "string" ? extra.stop_sequence : null;
  const known = Object.hasOwn(STOPS, stopReason) ? (STOPS[stopReason] as StopReason) : null;
  const reason = endOfTurn(known ?? "end", calledTools);
  const isDetailed = DETAILED.has(stopReason) || (known === null && stopReason !== "");
  return { reason, stopSequence: reason === "stop_sequence" ? sequence : null, stopDetail: isDetailed ? stopReason.slice(0, 200) : null };
}
