/**
 * Tokens of one call in the form all vendors' counts are brought to: every input token stands in exactly one of the
 * four input classes, because each is billed at its own rate.
 */
export interface Usage {
  readonly inputUncached: number;
  readonly cacheRead: number;
  /** Written to the vendor's prompt cache for its default time: five minutes where the vendor knows an hour as well. */
  readonly cacheWrite: number;
  /** Written for an hour. */
  readonly cacheWriteHour: number;
  /** Reasoning included. */
  readonly output: number;
  /** The part of the output that was reasoning, for information: it is billed as output. */
  readonly reasoning: number;
  /** True when the provider never told and the gateway counted for itself. */
  readonly estimated: boolean;
}

export function inputTokens(usage: Usage): number {
  return usage.inputUncached + usage.cacheRead + cacheWriteTokens(usage);
}

export function cacheWriteTokens(usage: Usage): number {
  return usage.cacheWrite + usage.cacheWriteHour;
}

/** Four characters a token: what a call is metered at when it ended before its provider said. */
export function estimateTokens(characters: number): number {
  return Math.ceil(characters / 4);
}
