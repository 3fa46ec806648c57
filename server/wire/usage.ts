/**
 * Tokens of one call in the form all vendors' counts are brought to: every input token stands in exactly one of the
 * three input classes, because each is billed at its own rate.
 */
export interface Usage {
  readonly inputUncached: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Reasoning included. */
  readonly output: number;
  /** True when the provider never told and the gateway counted for itself. */
  readonly estimated: boolean;
}

export function inputTokens(usage: Usage): number {
  return usage.inputUncached + usage.cacheRead + usage.cacheWrite;
}

/** Four characters a token: what a call is metered at when it ended before its provider said. */
export function estimateTokens(characters: number): number {
  return Math.ceil(characters / 4);
}
