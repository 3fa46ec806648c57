import type { Prices } from "../../directory/snapshot.ts";
import { costOf, type MicroUsd } from "../../kernel/money.ts";
import type { Usage } from "../../wire/usage.ts";

export interface Cost {
  readonly micros: MicroUsd;
  /** What the provider's prompt cache saved against the plain input price; negative when writing cost more. */
  readonly cacheSavings: MicroUsd | null;
}

/**
 * Null when a token was used that has no price: an unpriced call is not a free one. A cache price that is not set falls
 * back to the plain input price, the most the provider would bill for reading.
 */
export function costOfUsage(prices: Prices, usage: Usage): Cost | null {
  const { input, output } = prices;
  if ((input === null && usage.inputUncached + usage.cacheRead + usage.cacheWrite > 0) || (output === null && usage.output > 0)) return null;
  const cacheRead = prices.cacheRead ?? input ?? 0;
  const cacheWrite = prices.cacheWrite ?? input ?? 0;
  const micros = costOf([
    { tokens: usage.inputUncached, pricePerMillion: input ?? 0 },
    { tokens: usage.cacheRead, pricePerMillion: cacheRead },
    { tokens: usage.cacheWrite, pricePerMillion: cacheWrite },
    { tokens: usage.output, pricePerMillion: output ?? 0 },
  ]);
  if (usage.cacheRead + usage.cacheWrite === 0) return { micros, cacheSavings: null };
  const cached = costOf([
    { tokens: usage.cacheRead, pricePerMillion: cacheRead },
    { tokens: usage.cacheWrite, pricePerMillion: cacheWrite },
  ]);
  return { micros, cacheSavings: costOf([{ tokens: usage.cacheRead + usage.cacheWrite, pricePerMillion: input ?? 0 }]) - cached };
}
