import type { Plan, Scope } from "../counters/counters.ts";
import { amountText, limitWords } from "../limit-words.ts";

/** The rate or concurrency limit with the highest utilization, in percent of its capacity; null if there is none. */
export function tightestPace(
  plan: Plan,
  levels: readonly number[],
  inFlight: readonly number[],
): { readonly used: number; readonly text: string } | null {
  let found: { readonly used: number; readonly text: string } | null = null;
  for (const [i, level] of levels.entries()) {
    const bucket = plan.buckets[i] as Plan["buckets"][number];
    const { capacity, limitType } = bucket;
    const taken = Math.min(capacity, Math.max(0, capacity - level));
    const used = capacity === 0 ? 100 : (taken / capacity) * 100;
    if (used > (found?.used ?? -1)) {
      const text = `${amountText(bucket, Math.ceil(taken - 1e-6))} of ${amountText(bucket, capacity)} used`;
      found = { used, text: `${limitWords(limitType)} limit: ${text}` };
    }
  }
  for (const [i, count] of inFlight.entries()) {
    const { maxConcurrent } = plan.scopes[i] as Scope;
    if (maxConcurrent === null) continue;
    const used = (count / maxConcurrent) * 100;
    if (used > (found?.used ?? -1)) found = { used, text: `${limitWords("max_concurrent")} limit: ${count} of ${maxConcurrent} in flight` };
  }
  return found;
}
