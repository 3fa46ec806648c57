import type { Plan, Scope } from "./counters.ts";

export const limitWords = (limitType: string): string => limitType.replaceAll("_", " ");

/** The limit on throughput or on calls at once that is used most, in percent of what its bucket or scope holds. */
export function tightestPace(
  plan: Plan,
  levels: readonly number[],
  inFlight: readonly number[],
): { readonly used: number; readonly text: string } | null {
  let found: { readonly used: number; readonly text: string } | null = null;
  for (const [i, level] of levels.entries()) {
    const { capacity, limitType } = plan.buckets[i] as Plan["buckets"][number];
    const taken = Math.min(capacity, Math.max(0, capacity - level));
    const used = capacity === 0 ? 100 : (taken / capacity) * 100;
    if (used > (found?.used ?? -1))
      found = { used, text: `${limitWords(limitType)} limit: ${Math.ceil(taken - 1e-6)} of ${capacity} used` };
  }
  for (const [i, count] of inFlight.entries()) {
    const { maxConcurrent } = plan.scopes[i] as Scope;
    if (maxConcurrent === null) continue;
    const used = (count / maxConcurrent) * 100;
    if (used > (found?.used ?? -1)) found = { used, text: `${limitWords("max_concurrent")} limit: ${count} of ${maxConcurrent} in flight` };
  }
  return found;
}
