import { PolicyTree } from "../../../server/directory/limits/policy-tree.ts";
import type { GroupScope, ModelEntry } from "../../../server/directory/snapshot.ts";
import type { Call } from "../../../server/road/call.ts";
import { Limits } from "../../../server/controls/limits/limits.ts";
import type { LimitsParts } from "../../../server/controls/limits/limits-parts.ts";
import { EMPTY_VIEW } from "../../../server/road/request/empty-view.ts";
import { jsonLog } from "../../../server/kernel/log.ts";
import { openValkey } from "../../../server/runtime/valkey.ts";
import type { Counters, Demand, Plan } from "../../../server/controls/limits/counters/counters.ts";
import { InProcessCounters } from "../../../server/controls/limits/counters/in-process.ts";
import { ValkeyCounters } from "../../../server/controls/limits/counters/valkey.ts";
import { haveValkey, startValkey } from "../../../tests/support/processes/valkey.ts";

const LEVELS = 8;
const DEMAND: Demand = { tokens: 1_500, micros: 2_000, toolCalls: 0 };
const ACTUAL = { requests: 1, input: 700, output: 300, micros: 900 } as const;
const MAX = 1e15;

function plan(tenantId: string): Plan {
  const levels = Array.from({ length: LEVELS }, (_, i) => i);
  const window = (scope: number, measure: "requests" | "tokens" | "micros") => ({
    key: `g/${scope}/${measure}/day/2026-11-21`,
    scope,
    measure,
    limit: MAX,
    hard: true,
    warnAt: MAX / 2,
    startsAt: 0,
    resetsAt: Date.now() + 86_400_000,
    limitType: `daily_${measure}`,
    truth: null,
    epoch: 0,
  });
  return {
    tenantId,
    scopes: levels.map((i) => ({
      key: `g/${i}`,
      kind: "group",
      groupId: `g${i}`,
      groupName: `group ${i}`,
      cooldownMs: 0,
      maxConcurrent: 1_000_000,
    })),
    windows: levels.flatMap((i) => [window(i, "requests"), window(i, "tokens"), window(i, "micros")]),
    buckets: levels.map((i) => ({
      key: `g/${i}/requests`,
      scope: i,
      measure: "requests",
      perMinute: MAX,
      capacity: MAX,
      limitType: "requests_per_minute",
    })),
  };
}

async function call(counters: Counters, of: Plan, id: string): Promise<void> {
  const outcome = await counters.admit(id, of, DEMAND, false);
  if (outcome.kind !== "admitted") throw new Error(`not admitted: ${JSON.stringify(outcome)}`);
  await counters.settle({ id, plan: of, demand: DEMAND }, ACTUAL);
}

const steady = () => performance.timeOrigin + performance.now();

async function inProcess(): Promise<void> {
  const counters = new InProcessCounters(steady);
  const of = plan("t");
  counters.warm(of, new Map(of.windows.map((_, i) => [i, 0])));
  for (let i = 0; i < 20_000; i++) await call(counters, of, `w${i}`);
  const calls = 200_000;
  const before = process.cpuUsage();
  for (let i = 0; i < calls; i++) await call(counters, of, `c${i}`);
  const { user, system } = process.cpuUsage(before);
  console.log(
    `in process: ${((user + system) / calls).toFixed(2)} microseconds of CPU to admit and settle a call at ${LEVELS} levels (bound: 50)`,
  );
}

const LIMITS = {
  requests: { daily_limit: 1e12 },
  tokens: { daily_limit: 1e12 },
  budget: { monthly_limit_usd: 1e9, hard_stop: true },
  throughput: { max_requests_per_minute: 1e12 },
  concurrency: { max_concurrent: 1_000_000 },
};
const MODEL = {
  id: "m",
  name: "m",
  rateLimitRpm: null,
  rateLimitTpm: null,
  maxConcurrent: null,
  contextWindow: 200_000,
  maxOutputTokens: 4_096,
  defaultMaxTokens: null,
  systemPrompt: null,
  priceSchedule: [
    { from: 0, prices: { input: 2_000_000, output: 10_000_000, cacheRead: null, cacheWrite: null, cacheWriteHour: null }, tiers: [] },
  ],
} as unknown as ModelEntry;

/** Full admission of a call, including the limit documents and the worst-case estimate. */
async function gate(): Promise<void> {
  const ids = Array.from({ length: LEVELS }, (_, i) => `g${i}`);
  const policies = new PolicyTree(
    ids.map((id, i) => ({ id, name: id, parentId: ids[i + 1] ?? null })),
    ids.map((groupId) => ({ groupId, kind: "llm_limits" as const, itemId: "", document: LIMITS })),
  );
  const scope = {
    groupId: "g0",
    groupName: "g0",
    chain: ids.map((id) => ({ id, name: id })),
    tenant: { id: "t", policies },
  } as unknown as GroupScope;
  const truth = { ofDay: async () => ({ ofBranch: () => 0 }) } as unknown as LimitsParts["truth"];
  const limits = new Limits({
    counters: new InProcessCounters(steady),
    truth,
    alerts: { raise: () => undefined },
    clock: { now: () => Date.now(), micros: () => steady() * 1000 },
    log: jsonLog("error"),
    whenAway: "closed",
    waitMs: 1_000,
    countTokens: async () => null,
  });
  const view = { ...EMPTY_VIEW, maxTokens: 500 };
  const timestamp = new Date().toISOString();
  const one = async (id: string) => {
    const made = {
      id,
      audit: { proxyType: "llm", proxySubtype: "chat_completions" },
      scope,
      model: MODEL,
      route: null,
      tools: null,
      reservation: null,
      attempts: [],
      answerHeaders: {},
      row: { timestamp, request_size_bytes: 1_000, llm_model_requested: "m" },
    } as unknown as Call;
    const decided = limits.decide(made, view);
    const { kind } = decided instanceof Promise ? await decided : decided;
    if (kind !== "pass") throw new Error("refused");
    Object.assign(made.row, { llm_model_used: "m", llm_prompt_tokens: 700, llm_completion_tokens: 300, llm_estimated_cost_usd: 0.0044 });
    const settled = limits.settle(made);
    if (settled !== null) await settled;
  };
  for (let i = 0; i < 20_000; i++) await one(`w${i}`);
  const calls = 100_000;
  const before = process.cpuUsage();
  for (let i = 0; i < calls; i++) await one(`c${i}`);
  const { user, system } = process.cpuUsage(before);
  console.log(`in process, the whole gate: ${((user + system) / calls).toFixed(2)} microseconds of CPU (bound: 50)`);
}

async function withValkey(): Promise<void> {
  const server = await startValkey();
  const counters = new ValkeyCounters({ valkey: openValkey(server.url), now: steady, log: jsonLog("error"), settlesMs: 0 });
  const of = plan("t");
  await counters.warm(of, new Map(of.windows.map((_, i) => [i, 0])), 0);
  for (let i = 0; i < 500; i++) await call(counters, of, `w${i}`);
  const alone = 2_000;
  const began = performance.now();
  const cpu = process.cpuUsage();
  for (let i = 0; i < alone; i++) await call(counters, of, `a${i}`);
  const { user, system } = process.cpuUsage(cpu);
  console.log(
    `Valkey: ${(((performance.now() - began) * 1000) / alone).toFixed(0)} microseconds to admit and settle, one after the other, ${((user + system) / alone).toFixed(0)} of them CPU of the gateway`,
  );
  const rounds = 100;
  const together = performance.now();
  for (let round = 0; round < rounds; round++)
    await Promise.all(Array.from({ length: 64 }, (_, i) => call(counters, of, `b${round}-${i}`)));
  console.log(
    `Valkey: ${Math.round((rounds * 64) / ((performance.now() - together) / 1000)).toLocaleString("en")} calls a second, 64 at once`,
  );
  await counters.close();
  await server.stop();
}

await inProcess();
await gate();
if (haveValkey) await withValkey();
