import type { StopReason } from "../conversation/reply.ts";

/** What a `chatFinishReason` means; STOP stands for tool calls too, which only the parts tell. */
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
  /** The provider's word for it, with its explanation behind a colon; null where the reason says it all. */
  readonly detail: string | null;
}

/** A reason nobody knows yet is an end, named in the detail. */
export function readGeminiStop(finishReason: string, message: string | null, calledTools: boolean): GeminiStop {
  const reason = Object.hasOwn(MEANING, finishReason) ? (MEANING[finishReason] as StopReason) : "end";
  if (finishReason === "STOP") return { reason: calledTools ? "tool_call" : "end", detail: null };
  if (reason === "length" || reason === "pause") return { reason, detail: null };
  return { reason, detail: detailOf(finishReason, message) };
}

export function detailOf(word: string, message: string | null): string {
  return message === null || message === "" ? word : `${word}: ${message}`;
}

/** A detail that `readGeminiStop` made gives back the very reason and message it was made of. */
export function writeGeminiStop(reason: StopReason, detail: string | null): { finishReason: string; finishMessage?: string } {
  if (detail === null || detail === "") return { finishReason: SPELLED[reason] };
  const [, word = "", message] = /^([A-Z_]+)(?:: ([\s\S]+))?$/.exec(detail) ?? [];
  const meaning = Object.hasOwn(MEANING, word) ? MEANING[word] : undefined;
  const same = meaning === reason || (reason === "refusal" && meaning === "filtered") || (reason === "end" && word === "OTHER");
  if (!same) return { finishReason: SPELLED[reason], finishMessage: detail };
  return message === undefined ? { finishReason: word } : { finishReason: word, finishMessage: message };
}
