import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { PolicyTree, type StoredPolicy } from "../../../directory/limits/policy-tree.ts";
import { UsageOfDay } from "../../../directory/limits/usage-of-day.ts";
import type { UsageTruth } from "../../../directory/limits/usage-truth.ts";
import type { GroupScope, ModelEntry } from "../../../directory/snapshot.ts";
import { jsonLog } from "../../../kernel/log.ts";
import { openValkey } from "../../../runtime/valkey.ts";
import type { UsageTotal } from "../../../store/usage/usage-totals.ts";
import { PATIENCE_MS } from "../../../../tests/support/patience.ts";
import { haveValkey, startValkey, type TestValkey } from "../../../../tests/support/processes/valkey.ts";
import type { Counters, Demand, Plan } from "./counters.ts";
import { InProcessCounters } from "./in-process.ts";
import { PlanCache } from "../plans/plan-cache.ts";
import { planFor } from "../plans/plan.ts";
import { toolPlan } from "../plans/tool-plan.ts";
import { ValkeyCounters } from "./valkey.ts";
import { Warming } from "./warming.ts";

/** Processes that share the database, and in a fleet their counters. */

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

const tree = new PolicyTree(
  [
    { id: "root", name: "root", parentId: null },
    { id: "leaf", name: "leaf", parentId: "root" },
  ],
  [],
);

/** The database, whose totals grow as rows are shipped. */
class Database {
  readonly totals: UsageTotal[] = [];
  shipped(group: string, micros: number): void {
    this.totals.push({
      resource_group_id: group,
      model_id: null,
      month_requests: 1,
      month_tokens: 0,
      month_micros: micros,
      day_requests: 1,
      day_tokens: 0,
      day_micros: micros,
    });
  }
  get truth(): UsageTruth {
    return { recorded: async () => undefined, ofDay: async () => new UsageOfDay(this.totals) } as unknown as UsageTruth;
  }
}

function planOf(tenantId: string): Plan {
  return {
    tenantId,
    scopes: [{ key: "g/root", kind: "group", groupId: "root", groupName: "root", cooldownMs: 0, maxConcurrent: null }],
    windows: [
      {
        key: "w",
        scope: 0,
        measure: "micros",
        limit: 100,
        hard: true,
        warnAt: null,
        ...DAY,
        limitType: "daily_budget",
        truth: { kind: "group", groupId: "root", modelId: null, period: "day" },
        epoch: 0,
      },
    ],
    buckets: [],
  };
}

interface Process {
  readonly counters: Counters;
  readonly warming: Warming;
  readonly plan: Plan;
}

/** A process after its first call under the plan. */
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

describe("a process believed dead returns and ships its rows", () => {
  test("counters within a process include them once they are reconciled", async () => {
    const database = new Database();
    const lives = await started(new InProcessCounters(() => NOON), database, "t");
    await use(lives, "mine", 20);
    database.shipped("leaf", 20);
    // The other process's rows arrive late; its new counters start from what is recorded by then.
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
    test("a fleet releases its unrecorded usage and later counts the rows, also in a window only that process had warmed", async () => {
      const database = new Database();
      const counters = (more: { leaseMs: number; rowsWithinMs: number }) => {
        const made = new ValkeyCounters({
          settlesMs: 0,
          valkey: openValkey(valkey?.url ?? ""),
          now: () => NOON,
          log: jsonLog("error"),
          renewMs: 3_600_000,
          ...more,
        });
        opened.push(made);
        return made;
      };
      const dies = await started(counters({ leaseMs: 200, rowsWithinMs: 200 }), database, "t");
      const lives = await started(counters({ leaseMs: 30_000, rowsWithinMs: 200 }), database, "t");
      await use(dies, "late", 30);
      await use(lives, "mine", 20);
      lives.counters.sealed({ id: "mine", plan: lives.plan });
      expect(await spent(lives)).toBe(50);
      for (const deadline = Date.now() + PATIENCE_MS; (await spent(lives)) !== 20; await Bun.sleep(10)) {
        await lives.counters.resolve(async () => new Map());
        if (Date.now() > deadline) throw new Error("nothing was given back");
      }
      database.shipped("leaf", 20);
      await lives.warming.reconcile(NOON);
      expect(await spent(lives)).toBe(20);
      // Restarted with its journal, as a new process: the late call's row arrives.
      database.shipped("leaf", 30);
      const back = await started(counters({ leaseMs: 30_000, rowsWithinMs: 200 }), database, "t");
      await Promise.all([lives.warming.reconcile(NOON), back.warming.reconcile(NOON)]);
      expect(await spent(lives)).toBe(50);
      // No process counts it a second time when it reconciles.
      await lives.counters.resolve(
        async (_tenant, ids) => new Map(ids.map((id) => [id, { tokens: 0, micros: 30, requests: 1, attempts: null }])),
      );
      await back.warming.reconcile(NOON);
      expect(await spent(back)).toBe(50);
    });
  }
});

test("usage is summed by the newest group tree, and a replaced plan is not kept", async () => {
  const database = new Database();
  const process = await started(new InProcessCounters(() => NOON), database, "t");
  database.shipped("leaf", 10);
  database.shipped("moved here", 25);
  await process.warming.reconcile(NOON);
  expect(await spent(process)).toBe(10);
  process.warming.keep("leaf m", process.plan, {
    policies: new PolicyTree([...tree.groups, { id: "moved here", name: "moved here", parentId: "root" }], []),
  });
  await process.warming.reconcile(NOON);
  expect(await spent(process)).toBe(35);
});

test("few groups are queried by name, all in one query, and nothing is kept for a tenant without a plan in use", async () => {
  const leaves = Array.from({ length: 250 }, (_, i) => ({ id: `leaf ${i}`, name: `leaf ${i}`, parentId: "root" }));
  const policies = new PolicyTree([{ id: "root", name: "root", parentId: null }, ...leaves], []);
  const asked: { tenantId: string; month: boolean; modelIds: readonly string[]; groupIds: readonly string[] | null }[] = [];
  let recorded = 0;
  const truth = {
    async recorded() {
      recorded++;
    },
    async ofDay(tenantId: string, _at: number, question: Omit<(typeof asked)[number], "tenantId">) {
      asked.push({ tenantId, ...question });
      return new UsageOfDay([]);
    },
  } as unknown as UsageTruth;
  const warming = new Warming(new InProcessCounters(() => NOON), truth);
  const of = (tenantId: string, groupId: string, period: "day" | "month", modelId: string | null = null): Plan => {
    const plan = planOf(tenantId);
    return {
      ...plan,
      windows: plan.windows.map((window) => ({
        ...window,
        key: `${groupId} ${period} ${modelId}`,
        truth: { kind: "group", groupId, modelId, period },
        epoch: 0,
      })),
    };
  };
  await warming.warm({ policies }, of("t", "leaf 7", "day"), [0], NOON);
  await warming.warm({ policies }, of("t", "root", "month", "m"), [0], NOON);
  expect(asked.splice(0)).toEqual([
    { tenantId: "t", month: false, modelIds: [], groupIds: ["leaf 7"] },
    { tenantId: "t", month: true, modelIds: ["m"], groupIds: null },
  ]);

  recorded = 0;
  for (const tenantId of ["t", "u"])
    for (const plan of [of(tenantId, "leaf 1", "day"), of(tenantId, "leaf 2", "day", "m"), of(tenantId, "leaf 2", "month")])
      warming.keep((plan.windows[0] as Plan["windows"][number]).key, plan, { policies });
  await warming.reconcile(NOON);
  const question = { month: true, modelIds: ["m"], groupIds: ["leaf 1", "leaf 2"] };
  expect([asked.splice(0), recorded]).toEqual([
    [
      { tenantId: "t", ...question },
      { tenantId: "u", ...question },
    ],
    1,
  ]);
  // The day is over, and with it the last window of both.
  await warming.reconcile(DAY.resetsAt);
  expect([asked, warming.size]).toEqual([[], 0]);
});

describe.each(["in process", ...(haveValkey ? ["Valkey"] : [])])("%s: a limit set in the middle of its window", (home) => {
  const HOUR = 3_600_000;
  const MODEL = { id: "m", name: "m", rateLimitRpm: null, rateLimitTpm: null, maxConcurrent: null } as unknown as ModelEntry;

  /** The group with a policy tree of its own, as a changed configuration creates it. */
  function scopeWith(tenantId: string, policies: readonly StoredPolicy[]): GroupScope {
    return {
      groupId: "leaf",
      groupName: "leaf",
      chain: [{ id: "leaf", name: "leaf" }],
      tenant: { id: tenantId, policies: new PolicyTree([...tree.groups], policies) },
    } as unknown as GroupScope;
  }

  /** A process whose database reports seven of everything, with a settable clock. */
  function process() {
    const clock = { at: NOON };
    const asked: string[] = [];
    const counted = (kind: string) => async () => {
      asked.push(kind);
      return { ofBranch: () => 7 };
    };
    const counters =
      home === "Valkey"
        ? new ValkeyCounters({
            valkey: openValkey(valkey?.url ?? ""),
            now: () => clock.at,
            log: jsonLog("error"),
            renewMs: 3_600_000,
            settlesMs: 0,
          })
        : new InProcessCounters(() => clock.at);
    opened.push(counters);
    const warming = new Warming(counters, {
      recorded: async () => undefined,
      ofDay: counted("models"),
      tools: counted("tools"),
      toolResults: counted("results"),
    } as unknown as UsageTruth);
    const plans = new PlanCache();
    const used = async (plan: Plan, policies: PolicyTree): Promise<readonly number[]> => {
      for (;;) {
        const tried = await counters.admit("probe", plan, NOTHING, true);
        if (tried.kind === "admitted") return tried.spent;
        if (tried.kind !== "cold") throw new Error(JSON.stringify(tried));
        await warming.warm({ policies }, plan, tried.windows, clock.at);
      }
    };
    return {
      clock,
      asked,
      warming,
      models: (scope: GroupScope) =>
        used(
          plans.of(scope, "m", clock.at, () => planFor(scope, MODEL, clock.at)),
          scope.tenant.policies,
        ),
      tools: (scope: GroupScope) =>
        used(
          plans.of(scope, "tools s", clock.at, () => toolPlan(scope, { id: "s", name: "s" }, "p", clock.at)),
          scope.tenant.policies,
        ),
    };
  }

  const other: StoredPolicy = { groupId: "leaf", kind: "llm_limits", itemId: "", document: { requests: { monthly_limit: 1_000 } } };
  const daily: StoredPolicy = { groupId: "leaf", kind: "llm_limits", itemId: "", document: { requests: { daily_limit: 10 } } };
  const ofTools: StoredPolicy = { groupId: "leaf", kind: "mcp_limits", itemId: "", document: { frequency: { max_calls_per_hour: 10 } } };

  test("starts with the earlier usage of that window", async () => {
    const { clock, models, tools } = process();
    expect(await models(scopeWith(`set late ${home}`, [other]))).toEqual([7]);
    clock.at += 26.5 * HOUR;
    const changed = scopeWith(`set late ${home}`, [daily, ofTools]);
    expect([await models(changed), await tools(changed)]).toEqual([[7], [7]]);
  });

  test("starts its next window at zero, without a database query", async () => {
    const { clock, models, tools, asked } = process();
    const scope = scopeWith(`next window ${home}`, [daily, ofTools]);
    expect([await models(scope), await tools(scope)]).toEqual([[7], [7]]);
    asked.length = 0;
    clock.at += 26.5 * HOUR;
    expect([await models(scope), await tools(scope), asked]).toEqual([[0], [0], []]);
  });

  test("includes tool calls recorded by other processes, like those of models", async () => {
    const { clock, tools, warming, asked } = process();
    const scope = scopeWith(`tools of others ${home}`, [ofTools]);
    expect(await tools(scope)).toEqual([7]);
    clock.at += HOUR;
    expect(await tools(scope)).toEqual([0]);
    asked.length = 0;
    for (const server of ["s", "another"])
      warming.keep(`leaf tools ${server}`, toolPlan(scope, { id: server, name: server }, "p", clock.at), scope.tenant);
    await warming.reconcile(clock.at);
    expect([await tools(scope), asked]).toEqual([[7], ["tools"]]);
  });
});
