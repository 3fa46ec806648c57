import { endOfTurn, type StopReason } from "../conversation/reply.ts";
import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";

export interface MessagesStop {
  readonly reason: StopReason;
  readonly stopSequence: string | null;
  readonly stopDetail: string | null;
}

const REASONS: Readonly<Record<string, StopReason>> = {
  end_turn: "end",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  stop_sequence: "stop_sequence",
  tool_use: "tool_call",
  pause_turn: "pause",
  refusal: "refusal",
};

const WORDS: Readonly<Record<StopReason, string>> = {
  end: "end_turn",
  length: "max_tokens",
  tool_call: "tool_use",
  stop_sequence: "stop_sequence",
  pause: "pause_turn",
  refusal: "refusal",
  // The vendor's word for an answer that it withheld.
  filtered: "refusal",
  // The vendor has none for a malformed call: the turn has ended, and no call may be run.
  malformed: "end_turn",
};

const WINDOW = "model_context_window_exceeded";

/** Reads the three members that describe why a message stopped. */
export function readMessagesStop(holder: JsonObject, calledTools: boolean): MessagesStop {
  const word = holder.stop_reason;
  const known = typeof word === "string" && Object.hasOwn(REASONS, word) ? REASONS[word] : undefined;
  // An unknown reason counts as a normal end and is named in the detail.
  const unknown = known === undefined && typeof word === "string" && word !== "" ? word.slice(0, 200) : null;
  return {
    reason: endOfTurn(known ?? "end", calledTools),
    stopSequence: typeof holder.stop_sequence === "string" ? holder.stop_sequence : null,
    stopDetail: word === WINDOW ? WINDOW : (detailOf(holder.stop_details) ?? unknown),
  };
}

function detailOf(details: JsonValue | undefined): string | null {
  if (!isObject(details)) return null;
  if (typeof details.explanation === "string") return details.explanation;
  return typeof details.category === "string" ? details.category : null;
}

/** `content` corrects providers that report the same reason for every end: the answer contains a call, or the model's own refusal. */
export function writeMessagesStop(stop: MessagesStop, content: { readonly called: boolean; readonly refused: boolean }): JsonObject {
  let { reason } = stop;
  if (reason === "end" && content.refused) reason = "refusal";
  else if (reason === "end" && content.called) reason = "tool_call";
  const word = reason === "length" && stop.stopDetail === WINDOW ? WINDOW : WORDS[reason];
  return {
    stop_reason: word,
    stop_sequence: stop.stopSequence,
    stop_details: word === "refusal" ? { type: "refusal", category: null, explanation: stop.stopDetail } : null,
  };
}
