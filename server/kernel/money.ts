/**
 * Money inside the gateway is an integer number of micro-dollars (1 USD = 1,000,000). Prices are integer micro-dollars
 * per million tokens, so one token costs price / 1,000,000 micro-dollars.
 */

export type MicroUsd = number;

const PER_MILLION = 1_000_000n;

/** Rounds half up once, over the sum, so that the parts of one call never lose a micro-dollar each. */
export function costOf(parts: ReadonlyArray<{ tokens: number; pricePerMillion: MicroUsd }>): MicroUsd {
  let total = 0n;
  for (const part of parts) total += BigInt(part.tokens) * BigInt(part.pricePerMillion);
  return Number((total + PER_MILLION / 2n) / PER_MILLION);
}

export function usdFromMicros(micros: MicroUsd): number {
  return micros / 1_000_000;
}

/** A dollar amount from an admin body or a database numeric, as micro-dollars. */
export function microsFromUsd(usd: number | string): MicroUsd {
  return Math.round(Number(usd) * 1_000_000);
}
