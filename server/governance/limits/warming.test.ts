import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { PolicyTree } from "../../directory/limits/policy-tree.ts";
import { UsageOfDay, type UsageTruth } from "../../directory/limits/usage-truth.ts";
import { jsonLog } from "../../kernel/log.ts";
import { openValkey } from "../../runtime/valkey.ts";
import type { UsageTotal } from "../../store/usage-totals.ts";
import { haveValkey, startValkey, type TestValkey } from "../../../tests/support/valkey.ts";
import type { Counters, Demand, Plan } from "./counters.ts";
import { InProcessCounters } from "./in-process.ts";
import { ValkeyCounters } from "./valkey.ts";
import { Warming } from "./warming.ts";

/** Processes that share what the database knows, and in a fleet their counters. */

const NOON = Date.UTC(2026, 10, 21, 12);
const DAY = { startsAt: NOON - 43_200_000, resetsAt: NOON + 43_200_000 };
const NOTHING: Demand = { tokens: 0, micros: 0, toolCalls: 0 };

let valkey: TestValkey | undefined;
const opened: Counters[] = [];
beforeAll(async () => {
  if (haveValkey) valkey = await startValkey();
});
afterAll(async () => {
  await Promise.all(opened.map((counters) => counters.close()));
  await valkey?.stop();
});

const tree = new PolicyTree([{ id: "root", name: "root", parentId: null }, { id: "leaf", name: "leaf", parentId: "root" }], []);

/** The database: totals that grow as rows are shipped. */
class Database {
  readonly totals: UsageTotal[] = [];
  shipped(group: string, micros: number): void {
    this.totals.push({ resource_group_id: group, llm_model_used: "m", month_requests: 1, month_tokens: 0, month_micros: micros, day_requests: 1, day_tokens: 0, day_micros: micros });
  }
  get truth(): UsageTruth {
    return { ofDay: async () => new UsageOfDay(this.totals) } as unknown as UsageTruth;
  }
}

function planOf(tenantId: string): Plan {
  return { tenantId, scopes: [{ key: "g/root", kind: "group", groupId: "root", groupName: "root", cooldownMs: 0, maxConcurrent: null }], windows: [{ key: "w", scope: 0, measure: "micros", limit: 100, hard: true, warnAt: null, ...DAY, limitType: "daily_budget", truth: { kind: "group", groupId: "root", modelName: null, period: "day" } }], buckets: [] };
}

interface Process {
  readonly counters: Counters;
  readonly warming: Warming;
  readonly plan: Plan;
}

/** A process as it is after its first call under the plan. */
async function started(counters: Counters, database: Database, tenantId: string): Promise<Process> {
  const warming = new Warming(counters, database.truth);
  const plan = planOf(tenantId);
  warming.keep("leaf m", plan, { policies: tree });
  const tried = await counters.admit("first", plan, NOTHING, true);
  if (tried.kind === "cold") await warming.warm({ policies: tree }, plan, tried.windows, NOON);
  return { counters, warming, plan };
}

async function spent({ counters, plan }: Process): Promise<number> {
  const tried = await counters.admit("probe", plan, NOTHING, true);
  if (tried.kind !== "admitted") throw new Error(JSON.stringify(tried));
  return tried.spent[0] as number;
}

async function use({ counters, plan }: Process, id: string, micros: number): Promise<void> {
  const demand = { ...NOTHING, micros };
  expect((await counters.admit(id, plan, demand, false)).kind).toBe("admitted");
  await counters.settle({ id, plan, demand }, { requests: 1, input: 0, output: 0, micros });
}

describe("a process that was taken for dead comes back and ships what it had recorded", () => {
  test("processes that count for themselves know of it once they are reconciled", async () => {
    const database = new Database();
    const lives = await started(new InProcessCounters(() => NOON), database, "t");
    await use(lives, "mine", 20);
    database.shipped("leaf", 20);
    // The other's rows arrive late, its own counters are new and warm from what is there by then.
    database.shipped("leaf", 30);
    const back = await started(new InProcessCounters(() => NOON), database, "t");
    expect(await spent(back)).toBe(50);
    expect(await spent(lives)).toBe(20);
    await lives.warming.reconcile(NOON);
    expect(await spent(lives)).toBe(50);
    await lives.warming.reconcile(NOON);
    expect(await spent(lives)).toBe(50);
  });

  if (haveValkey) {
    test("a fleet gives back what it did not record, and takes it up again by its rows, though only the dead had warmed the window", async () => {
      const database = new Database();
      const counters = (more: { leaseMs: number; rowsWithinMs: number }) => {
        const made = new ValkeyCounters({ valkey: openValkey(valkey?.url ?? ""), now: () => NOON, log: jsonLog("error"), renewMs: 3_600_000, ...more });
        opened.push(made);
        return made;
      };
      const dies = await started(counters({ leaseMs: 200, rowsWithinMs: 200 }), database, "t");
      const lives = await started(counters({ leaseMs: 30_000, rowsWithinMs: 200 }), database, "t");
      await use(dies, "late", 30);
      await use(lives, "mine", 20);
      lives.counters.sealed({ id: "mine", plan: lives.plan });
      expect(await spent(lives)).toBe(50);
      for (const deadline = Date.now() + 10_000; (await spent(lives)) !== 20; await Bun.sleep(10)) {
        await lives.counters.resolve(async () => new Map());
        if (Date.now() > deadline) throw new Error("nothing was given back");
      }
      database.shipped("leaf", 20);
      await lives.warming.reconcile(NOON);
      expect(await spent(lives)).toBe(20);
      // Back again under its own journal, as a new process: the row of the late call arrives.
      database.shipped("leaf", 30);
      const back = await started(counters({ leaseMs: 30_000, rowsWithinMs: 200 }), database, "t");
      await Promise.all([lives.warming.reconcile(NOON), back.warming.reconcile(NOON)]);
      expect(await spent(lives)).toBe(50);
      // Nobody counts it a second time, whoever looks after it.
      await lives.counters.resolve(async (_tenant, ids) => new Map(ids.map((id) => [id, { tokens: 0, micros: 30, requests: 1 }])));
      await back.warming.reconcile(NOON);
      expect(await spent(back)).toBe(50);
    });
  }
});

test("use is added up by the newest tree, and a plan that was replaced is not kept", async () => {
  const database = new Database();
  const process = await started(new InProcessCounters(() => NOON), database, "t");
  database.shipped("leaf", 10);
  database.shipped("moved here", 25);
  await process.warming.reconcile(NOON);
  expect(await spent(process)).toBe(10);
  process.warming.keep("leaf m", process.plan, { policies: new PolicyTree([...tree.groups, { id: "moved here", name: "moved here", parentId: "root" }], []) });
  await process.warming.reconcile(NOON);
  expect(await spent(process)).toBe(35);
});
