import type { StopReason } from "../conversation/reply.ts";

/** The meaning of each finish reason. STOP also ends answers with tool calls, which only the parts show. */
const MEANING: Readonly<Record<string, StopReason>> = {
  STOP: "end",
  MAX_TOKENS: "length",
  SAFETY: "filtered",
  RECITATION: "filtered",
  LANGUAGE: "filtered",
  BLOCKLIST: "filtered",
  PROHIBITED_CONTENT: "filtered",
  SPII: "filtered",
  IMAGE_SAFETY: "filtered",
  IMAGE_PROHIBITED_CONTENT: "filtered",
  IMAGE_RECITATION: "filtered",
  MALFORMED_FUNCTION_CALL: "malformed",
  MALFORMED_RESPONSE: "malformed",
  UNEXPECTED_TOOL_CALL: "malformed",
  TOO_MANY_TOOL_CALLS: "malformed",
  MISSING_THOUGHT_SIGNATURE: "malformed",
  CONTINUATION: "pause",
};

const SPELLED: Readonly<Record<StopReason, string>> = {
  end: "STOP",
  tool_call: "STOP",
  stop_sequence: "STOP",
  length: "MAX_TOKENS",
  filtered: "SAFETY",
  refusal: "SAFETY",
  pause: "CONTINUATION",
  malformed: "MALFORMED_FUNCTION_CALL",
};

export interface GeminiStop {
  readonly reason: StopReason;
  /** The provider's reason, followed by a colon and its explanation; null if `reason` says it all. */
  readonly detail: string | null;
}

/** An unknown reason counts as a normal end and is named in the detail. */
export function readGeminiStop(finishReason: string, message: string | null, calledTools: boolean): GeminiStop {
  const reason = Object.hasOwn(MEANING, finishReason) ? (MEANING[finishReason] as StopReason) : "end";
  if (finishReason === "STOP") return { reason: calledTools ? "tool_call" : "end", detail: null };
  if (reason === "length" || reason === "pause") return { reason, detail: null };
  return { reason, detail: detailOf(finishReason, message) };
}

export function detailOf(word: string, message: string | null): string {
  return message === null || message === "" ? word : `${word}: ${message}`;
}

/** Inverse of `readGeminiStop`: restores the original finish reason and message from its detail. */
export function writeGeminiStop(reason: StopReason, detail: string | null): { finishReason: string; finishMessage?: string } {
  if (detail === null || detail === "") return { finishReason: SPELLED[reason] };
  const [, word = "", message] = /^([A-Z_]+)(?:: ([\s\S]+))?$/.exec(detail) ?? [];
  const meaning = Object.hasOwn(MEANING, word) ? MEANING[word] : undefined;
  const same = meaning === reason || (reason === "refusal" && meaning === "filtered") || (reason === "end" && word === "OTHER");
  if (!same) return { finishReason: SPELLED[reason], finishMessage: detail };
  return message === undefined ? { finishReason: word } : { finishReason: word, finishMessage: message };
}
