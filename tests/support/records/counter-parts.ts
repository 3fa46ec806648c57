import type { Admission } from "../../../server/controls/limits/admission/admission-answer.ts";
import type { Actual, BucketLimit, Counters, Demand, Plan, Scope, WindowLimit } from "../../../server/controls/limits/counters/counters.ts";

export const DAY = 86_400_000;
export const NOON = Date.UTC(2026, 10, 21, 12);
export const LATE = Date.UTC(2026, 10, 21, 23, 40);

export const scope = (key: string, more: Partial<Scope> = {}): Scope => ({
  key,
  kind: "group",
  groupId: key,
  groupName: key,
  cooldownMs: 0,
  maxConcurrent: null,
  ...more,
});
export const window = (key: string, measure: WindowLimit["measure"], limit: number, more: Partial<WindowLimit> = {}): WindowLimit => ({
  key,
  scope: 0,
  measure,
  limit,
  hard: true,
  warnAt: null,
  startsAt: NOON - (NOON % DAY),
  resetsAt: NOON - (NOON % DAY) + DAY,
  limitType: `daily_${measure}`,
  truth: null,
  epoch: 0,
  ...more,
});
export const bucket = (key: string, measure: BucketLimit["measure"], perMinute: number, capacity = perMinute): BucketLimit => ({
  key,
  scope: 0,
  measure,
  perMinute,
  capacity,
  limitType: `${measure}_per_minute`,
});
export const plan = (tenantId: string, parts: Partial<Plan>): Plan => ({
  tenantId,
  scopes: [scope("g")],
  windows: [],
  buckets: [],
  ...parts,
});
export const nothing: Actual = { requests: 0, input: 0, output: 0, micros: 0 };
export const demand = (tokens = 0, micros = 0, toolCalls = 0): Demand => ({ tokens, micros, toolCalls });

let calls = 0;

export async function warmed(counters: Counters, of: Plan, at: number): Promise<Plan> {
  await counters.warm(of, new Map(of.windows.map((_, i) => [i, 0])), at);
  return of;
}

export async function tryCall(counters: Counters, of: Plan, wants: Demand): Promise<{ id: string; outcome: Admission }> {
  const id = `call-${calls++}`;
  return { id, outcome: await counters.admit(id, of, wants, false) };
}
