import { jsonLog } from "../../../server/kernel/log.ts";
import { openValkey } from "../../../server/runtime/valkey.ts";
import type { Counters, Demand, Plan } from "../../../server/governance/limits/counters.ts";
import { InProcessCounters } from "../../../server/governance/limits/in-process.ts";
import { ValkeyCounters } from "../../../server/governance/limits/valkey.ts";
import { haveValkey, startValkey } from "../../../tests/support/valkey.ts";

const LEVELS = 8;
const DEMAND: Demand = { tokens: 1_500, micros: 2_000, toolCalls: 0 };
const ACTUAL = { requests: 1, input: 700, output: 300, micros: 900 } as const;
const MOST = 1e15;

function plan(tenantId: string): Plan {
  const levels = Array.from({ length: LEVELS }, (_, i) => i);
  const window = (scope: number, measure: "requests" | "tokens" | "micros") => ({ key: `g/${scope}/${measure}/day/2026-11-21`, scope, measure, limit: MOST, hard: true, warnAt: MOST / 2, startsAt: 0, resetsAt: Date.now() + 86_400_000, limitType: `daily_${measure}`, truth: null });
  return {
    tenantId,
    scopes: levels.map((i) => ({ key: `g/${i}`, kind: "group", groupId: `g${i}`, groupName: `group ${i}`, cooldownMs: 0, maxConcurrent: 1_000_000 })),
    windows: levels.flatMap((i) => [window(i, "requests"), window(i, "tokens"), window(i, "micros")]),
    buckets: levels.map((i) => ({ key: `g/${i}/requests`, scope: i, measure: "requests", perMinute: MOST, capacity: MOST, limitType: "requests_per_minute" })),
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
  console.log(`in process: ${((user + system) / calls).toFixed(2)} microseconds of CPU to admit and settle a call at ${LEVELS} levels (bound: 50)`);
}

async function withValkey(): Promise<void> {
  const server = await startValkey();
  const counters = new ValkeyCounters({ valkey: openValkey(server.url), now: steady, log: jsonLog("error") });
  const of = plan("t");
  await counters.warm(of, new Map(of.windows.map((_, i) => [i, 0])), 0);
  for (let i = 0; i < 500; i++) await call(counters, of, `w${i}`);
  const alone = 2_000;
  const began = performance.now();
  const cpu = process.cpuUsage();
  for (let i = 0; i < alone; i++) await call(counters, of, `a${i}`);
  const { user, system } = process.cpuUsage(cpu);
  console.log(`Valkey: ${(((performance.now() - began) * 1000) / alone).toFixed(0)} microseconds to admit and settle, one after the other, ${((user + system) / alone).toFixed(0)} of them CPU of the gateway`);
  const rounds = 100;
  const together = performance.now();
  for (let round = 0; round < rounds; round++) await Promise.all(Array.from({ length: 64 }, (_, i) => call(counters, of, `b${round}-${i}`)));
  console.log(`Valkey: ${Math.round((rounds * 64) / ((performance.now() - together) / 1000)).toLocaleString("en")} calls a second, 64 at once`);
  await counters.close();
  await server.stop();
}

await inProcess();
if (haveValkey) await withValkey();
