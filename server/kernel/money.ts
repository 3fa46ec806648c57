/**
 * Money inside the gateway is an integer number of micro-dollars (1 USD = 1,000,000). Prices are integer micro-dollars per million tokens,
 * so one token costs price / 1,000,000 micro-dollars.
 */

export type MicroUsd = number;

const PER_MILLION = 1_000_000;

/** Rounds half up once, over the sum, so that a call's parts do not each lose a micro-dollar. */
export function costOf(parts: ReadonlyArray<{ tokens: number; pricePerMillion: MicroUsd }>): MicroUsd {
  let total = 0;
  for (const part of parts) total += part.tokens * part.pricePerMillion;
  // Exact up to 2^53: nine billion tokens at a dollar per million. Beyond it the sum is computed with big integers.
  if (Number.isSafeInteger(total)) return Math.floor((total + PER_MILLION / 2) / PER_MILLION);
  const exact = parts.reduce((sum, part) => sum + BigInt(part.tokens) * BigInt(part.pricePerMillion), 0n);
  return Number((exact + BigInt(PER_MILLION / 2)) / BigInt(PER_MILLION));
}

export function usdFromMicros(micros: MicroUsd): number {
  return micros / 1_000_000;
}

/** Converts dollars from an admin body or a database numeric to micro-dollars. */
export function microsFromUsd(usd: number | string): MicroUsd {
  return Math.round(Number(usd) * 1_000_000);
}
