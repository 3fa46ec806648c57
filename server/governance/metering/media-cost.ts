import type { MediaPrices } from "../../directory/models/prices.ts";
import { costOf, type MicroUsd } from "../../kernel/money.ts";

/** What a call made or took that is not counted in tokens. */
export interface MediaUsage {
  readonly images: number;
  /** May have a fraction. */
  readonly audioInputSeconds: number;
  readonly audioOutputCharacters: number;
  /** May have a fraction. */
  readonly videoSeconds: number;
}

/** Null when something was used that has no price. */
export function mediaCost(prices: MediaPrices, usage: MediaUsage): MicroUsd | null {
  const used = [
    [usage.images, prices.image],
    [usage.audioInputSeconds, prices.audioInputSecond],
    [usage.audioOutputCharacters, prices.audioOutputCharacter],
    [usage.videoSeconds, prices.videoSecond],
  ] as const;
  if (used.some(([units, price]) => units > 0 && price === null)) return null;
  // In thousandths of a unit, so that a fraction of a second is a whole number of them.
  const thousandths = costOf(used.map(([units, price]) => ({ tokens: Math.round(units * 1_000), pricePerMillion: price ?? 0 })));
  return Math.round(thousandths / 1_000);
}
