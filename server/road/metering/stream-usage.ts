import { plausibleUsage, estimateTokens, type Usage } from "../../wire/usage.ts";
import type { StreamAnswer } from "../answer.ts";

export function estimated(inputCharacters: number, outputCharacters: number): Usage {
  return {
    inputUncached: estimateTokens(inputCharacters),
    cacheRead: 0,
    cacheWrite: 0,
    cacheWriteHour: 0,
    output: estimateTokens(outputCharacters),
    reasoning: 0,
    estimated: true,
  };
}

/** What a stream consumed, as far as it got; null for one that no model gives. */
export function streamUsage({ codec, inputCharacters }: StreamAnswer): Usage | null {
  return plausibleUsage(codec.usage) ?? (inputCharacters === null ? null : estimated(inputCharacters, codec.outputLength));
}
