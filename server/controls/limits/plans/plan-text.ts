import type { Plan } from "../counters/counters.ts";
import { beginsAtZero } from "../counters/window-amounts.ts";

/** Counters are kept longer than the period they count. */
export const PLAN_RETENTION_MS = 172_800_000;

/** A plan in the format that the Valkey scripts read. Created once per plan, which lives about a day. `now`: monotonic milliseconds. */
export function planText(plan: Plan, now: number): string {
  return JSON.stringify({
    u: plan.unpaced === true ? 1 : 0,
    s: plan.scopes.map(({ key, cooldownMs, maxConcurrent }) => ({ k: key, d: cooldownMs, m: maxConcurrent ?? -1 })),
    b: plan.buckets.map(({ key, scope, measure, perMinute, capacity, limitType, leave }) => ({
      ...(leave === undefined ? {} : { e: leave }),
      k: key,
      s: scope,
      m: measure,
      r: perMinute,
      c: capacity,
      t: limitType,
    })),
    w: plan.windows.map((window) => {
      const { key, measure, limit, hard, startsAt, resetsAt, truth, epoch } = window;
      return {
        k: key,
        ...(epoch === 0 ? {} : { n: epoch }),
        m: measure,
        l: limit,
        h: hard ? 1 : 0,
        a: beginsAtZero(plan, window) ? startsAt : 0,
        x: Math.round(Math.max(0, resetsAt === Number.POSITIVE_INFINITY ? 0 : resetsAt - now) + PLAN_RETENTION_MS),
        z: resetsAt === Number.POSITIVE_INFINITY && truth === null ? 1 : 0,
      };
    }),
  });
}
