import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { PolicyTree, type StoredPolicy } from "../../directory/limits/policy-tree.ts";
import type { PolicyKind } from "../../directory/limits/rules.ts";
import type { GroupScope, ModelEntry } from "../../directory/snapshot.ts";
import { jsonLog } from "../../kernel/log.ts";
import { openValkey } from "../../runtime/valkey.ts";
import { haveValkey, startValkey, type TestValkey } from "../../../tests/support/processes/valkey.ts";
import type { Actual, Counters, Demand, Plan } from "./counters/counters.ts";
import { InProcessCounters } from "./counters/in-process.ts";
import { memberPlan, planFor, withRun } from "./plans/plan.ts";
import { toolCallPlan } from "./plans/tool-call-plan.ts";
import { toolPlan } from "./plans/tool-plan.ts";
import { ValkeyCounters } from "./counters/valkey.ts";

/** Each kind of limit, set by a policy document on a group above the caller's: of M concurrent calls, exactly N pass a limit of N. */

const NOON = Date.UTC(2026, 10, 21, 12);
const ROUNDS = 200;
/** Usage of one call. */
const TOKENS = 70;
const MICROS = 333;
const USED: Actual = { requests: 1, input: TOKENS, output: TOKENS, micros: MICROS };

interface Kind {
  readonly name: string;
  of(tenantId: string, n: number): Plan;
  /** What is charged after the answer can only be exact for sequential calls (interface 8.2). */
  readonly charged?: true;
}

const MODEL = { id: "m", name: "m", rateLimitRpm: null, rateLimitTpm: null, maxConcurrent: null } as unknown as ModelEntry;
const model = (more: Partial<ModelEntry>): ModelEntry => ({ ...MODEL, ...more });

function scopeWith(
  tenantId: string,
  kind: PolicyKind | null,
  document: object,
  itemId = "",
  ofLeaf: object = {},
  branchesLeft = 0,
): GroupScope {
  const policies: StoredPolicy[] =
    kind === null
      ? []
      : [
          { groupId: "root", kind, itemId, document: document as never },
          { groupId: "leaf", kind, itemId, document: ofLeaf as never },
        ];
  const tree = new PolicyTree(
    [
      { id: "root", name: "root", parentId: null, branchesLeft },
      { id: "leaf", name: "leaf", parentId: "root" },
    ],
    policies,
  );
  return {
    groupId: "leaf",
    groupName: "leaf",
    chain: [
      { id: "leaf", name: "leaf" },
      { id: "root", name: "root" },
    ],
    tenant: { id: tenantId, policies: tree },
  } as unknown as GroupScope;
}

const usd = (n: number) => (n * MICROS) / 1e6;

const LLM: readonly [name: string, document: (n: number) => object, charged?: true][] = [
  ["requests.daily_limit", (n) => ({ requests: { daily_limit: n } })],
  ["requests.monthly_limit", (n) => ({ requests: { monthly_limit: n } })],
  ["tokens.daily_limit", (n) => ({ tokens: { daily_limit: n * TOKENS + TOKENS - 1 } })],
  ["tokens.monthly_limit", (n) => ({ tokens: { monthly_limit: n * TOKENS } })],
  ["budget.daily_limit_usd, hard_stop", (n) => ({ budget: { daily_limit_usd: usd(n), hard_stop: true } })],
  ["budget.monthly_limit_usd, hard_stop", (n) => ({ budget: { monthly_limit_usd: usd(n), hard_stop: true } })],
  ["throughput.max_requests_per_minute", (n) => ({ throughput: { max_requests_per_minute: n } })],
  ["throughput.request_burst", (n) => ({ throughput: { max_requests_per_minute: 1_000, request_burst: n } })],
  ["throughput.max_input_tokens_per_minute", (n) => ({ throughput: { max_input_tokens_per_minute: n * TOKENS } }), true],
  ["throughput.max_output_tokens_per_minute", (n) => ({ throughput: { max_output_tokens_per_minute: n * TOKENS - 1 } }), true],
  ["throughput.max_usd_per_minute", (n) => ({ throughput: { max_usd_per_minute: usd(n) } }), true],
  ["concurrency.max_concurrent", (n) => ({ concurrency: { max_concurrent: n } })],
];
const TOOLS: readonly [name: string, document: (n: number) => object][] = [
  ["frequency.max_calls_per_minute", (n) => ({ frequency: { max_calls_per_minute: n } })],
  ["frequency.burst_limit", (n) => ({ frequency: { max_calls_per_minute: 1_000, burst_limit: n } })],
  ["frequency.max_calls_per_hour", (n) => ({ frequency: { max_calls_per_hour: n } })],
  ["frequency.max_calls_per_day", (n) => ({ frequency: { max_calls_per_day: n } })],
  ["execution.max_concurrency_per_group", (n) => ({ execution: { max_concurrency_per_group: n } })],
  ["execution.max_concurrency_per_user", (n) => ({ execution: { max_concurrency_per_user: n } })],
];
const CAPS: readonly [name: string, caps: (n: number) => Partial<ModelEntry>, charged?: true][] = [
  ["rate_limit_rpm", (n) => ({ rateLimitRpm: n })],
  ["rate_limit_tpm", (n) => ({ rateLimitTpm: n * 2 * TOKENS }), true],
  ["max_concurrent_requests", (n) => ({ maxConcurrent: n })],
];
const RUN: readonly [name: string, document: (n: number) => object][] = [
  ["max_llm_calls_per_run", (n) => ({ max_llm_calls_per_run: n })],
  ["max_tokens_per_run", (n) => ({ max_tokens_per_run: n * TOKENS })],
  ["max_cost_per_run_usd", (n) => ({ max_cost_per_run_usd: usd(n) })],
];
const charges = (charged?: true) => (charged === undefined ? {} : { charged });

const KINDS: readonly Kind[] = [
  ...LLM.map(([name, document, charged]): Kind => ({
    name,
    of: (t, n) => planFor(scopeWith(t, "llm_limits", document(n)), MODEL, NOON),
    ...charges(charged),
  })),
  ...LLM.map(([name, document, charged]): Kind => ({
    name: `of one model: ${name}`,
    of: (t, n) => planFor(scopeWith(t, "llm_limits", document(n), "m"), MODEL, NOON),
    ...charges(charged),
  })),
  ...LLM.map(([name, document, charged]): Kind => ({
    name: `of a member of a routing group: ${name}`,
    of: (t, n) => memberPlan(scopeWith(t, "llm_limits", document(n), "m"), MODEL, NOON),
    ...charges(charged),
  })),
  {
    name: "a group's own burst under an inherited rate",
    of: (t, n) =>
      planFor(
        scopeWith(t, "llm_limits", { throughput: { max_requests_per_minute: 1_000 } }, "", { throughput: { request_burst: n } }),
        MODEL,
        NOON,
      ),
  },
  {
    name: "a group's own burst of tool calls under an inherited rate",
    of: (t, n) =>
      toolPlan(
        scopeWith(t, "mcp_limits", { frequency: { max_calls_per_minute: 1_000 } }, "", { frequency: { burst_limit: n } }),
        { id: "s", name: "s" },
        "someone",
        NOON,
      ),
  },
  {
    name: "a group's own rate under an inherited burst",
    of: (t, n) =>
      planFor(
        scopeWith(t, "llm_limits", { throughput: { max_requests_per_minute: 1_000, request_burst: 2_000 } }, "", {
          throughput: { max_requests_per_minute: n },
        }),
        MODEL,
        NOON,
      ),
  },
  {
    name: "a group's own rate of tool calls under an inherited burst",
    of: (t, n) =>
      toolPlan(
        scopeWith(t, "mcp_limits", { frequency: { max_calls_per_minute: 1_000, burst_limit: 2_000 } }, "", {
          frequency: { max_calls_per_minute: n },
        }),
        { id: "s", name: "s" },
        "someone",
        NOON,
      ),
  },
  {
    name: "a group's own rate under a smaller inherited burst",
    of: (t, n) =>
      planFor(
        scopeWith(t, "llm_limits", { throughput: { max_requests_per_minute: 1_000, request_burst: n } }, "", {
          throughput: { max_requests_per_minute: 900 },
        }),
        MODEL,
        NOON,
      ),
  },
  ...["max_tool_calls_per_hour", "max_tool_calls_per_day"].map((field): Kind => ({
    name: `tool_use.${field}`,
    of: (t, n) => toolCallPlan(scopeWith(t, "llm_governance", { tool_use: { [field]: n * 2 + 1 } }), MODEL, NOON),
  })),
  ...CAPS.map(([name, caps, charged]): Kind => ({
    name: `of a model or routing group: ${name}`,
    of: (t, n) => planFor(scopeWith(t, null, {}), model(caps(n)), NOON),
    ...charges(charged),
  })),
  ...RUN.map(([name, document]): Kind => ({
    name,
    of: (t, n) => {
      const scope = scopeWith(t, "run_ceilings", document(n));
      return withRun(
        planFor(scope, MODEL, NOON),
        "run",
        { ceilings: scope.tenant.policies.effective("leaf", "run_ceilings"), setBy: () => ({ id: "leaf", name: "leaf" }) },
        false,
      );
    },
  })),
  ...TOOLS.map(([name, document]): Kind => ({
    name: `of tool servers: ${name}`,
    of: (t, n) => toolPlan(scopeWith(t, "mcp_limits", document(n)), { id: "s", name: "s" }, "someone", NOON),
  })),
  ...TOOLS.map(([name, document]): Kind => ({
    name: `of one tool server: ${name}`,
    of: (t, n) => toolPlan(scopeWith(t, "mcp_limits", document(n), "s"), { id: "s", name: "s" }, "someone", NOON),
  })),
];

let valkey: TestValkey | undefined;
let shared: Counters | undefined;

/** Started late: the in-process counters block the event loop, so no connection could be opened meanwhile. */
async function startShared(): Promise<void> {
  valkey = await startValkey();
  shared = new ValkeyCounters({ valkey: openValkey(valkey.url), now: () => NOON, log: jsonLog("error"), settlesMs: 0 });
}
afterAll(async () => {
  await shared?.close();
  await valkey?.stop();
});

let calls = 0;
const WANTS: Demand = { tokens: TOKENS, micros: MICROS, toolCalls: 2 };

async function passes(counters: Counters, plan: Plan): Promise<string | null> {
  const id = `call-${calls++}`;
  return (await counters.admit(id, plan, WANTS, false)).kind === "admitted" ? id : null;
}

for (const home of ["in process", ...(haveValkey ? ["Valkey"] : [])]) {
  describe(home, () => {
    if (home === "Valkey") beforeAll(startShared);
    test.each(KINDS.map((kind) => [kind.name, kind] as const))(
      `exactly N of M concurrent calls pass a limit of N: %s, ${ROUNDS} rounds`,
      async (_name, { of, charged }) => {
        for (let round = 0; round < ROUNDS; round++) {
          const counters = home === "in process" ? new InProcessCounters(() => NOON) : (shared as Counters);
          const n = 1 + (round % 7);
          const plan = of(`t${calls++}`, n);
          expect(
            plan.windows.length + plan.buckets.length + plan.scopes.filter(({ maxConcurrent }) => maxConcurrent !== null).length,
          ).toBeGreaterThan(0);
          await counters.warm(plan, new Map(plan.windows.map((_, i) => [i, 0])), NOON);
          const many = n + 1 + (round % 5);
          if (charged === undefined) {
            const outcomes = await Promise.all(Array.from({ length: many }, () => passes(counters, plan)));
            expect(outcomes.filter((id) => id !== null).length).toBe(n);
            continue;
          }
          let passed = 0;
          for (let i = 0; i < many; i++) {
            const id = await passes(counters, plan);
            if (id === null) continue;
            passed++;
            await counters.settle({ id, plan, demand: WANTS }, USED);
          }
          expect(passed).toBe(n);
        }
      },
    );
  });
}

test("a group's own cooldown or warning applies to its inherited limits", () => {
  const above = { throughput: { max_requests_per_minute: 10, max_usd_per_minute: 1 }, tokens: { daily_limit: 100 } };
  const cooled = planFor(scopeWith("t", "llm_limits", above, "", { throughput: { cooldown_seconds: 30 } }), MODEL, NOON);
  expect(cooled.scopes.map(({ groupId, cooldownMs }) => [groupId, cooldownMs])).toEqual([
    ["leaf", 30_000],
    ["root", 0],
  ]);
  expect(cooled.buckets.map(({ key }) => key)).toEqual(["g/leaf/requests", "g/leaf/micros", "g/root/requests", "g/root/micros"]);
  const warned = planFor(scopeWith("t", "llm_limits", above, "", { tokens: { daily_warning_percent: 50 } }), MODEL, NOON);
  expect(warned.windows.map(({ key, limit, warnAt }) => [key, limit, warnAt])).toEqual([
    ["g/leaf/tokens/day/2026-11-21", 100, 50],
    ["g/root/tokens/day/2026-11-21", 100, null],
  ]);
  const alone = planFor(scopeWith("t", "llm_limits", {}, "", { throughput: { request_burst: 3, cooldown_seconds: 5 } }), MODEL, NOON);
  expect([alone.buckets, alone.windows]).toEqual([[], []]);
});

test.each([
  [
    "of a group",
    (left: number) =>
      planFor(
        scopeWith("t", "llm_limits", { requests: { daily_limit: 1 }, throughput: { max_requests_per_minute: 1 } }, "", {}, left),
        MODEL,
        NOON,
      ),
  ],
  [
    "of a model",
    (left: number) =>
      planFor(
        scopeWith("t", "llm_limits", { tokens: { monthly_limit: 1 }, concurrency: { max_concurrent: 1 } }, "m", {}, left),
        MODEL,
        NOON,
      ),
  ],
  [
    "of tool calls made by models",
    (left: number) =>
      toolCallPlan(scopeWith("t", "llm_governance", { tool_use: { max_tool_calls_per_hour: 1 } }, "", {}, left), MODEL, NOON),
  ],
  [
    "of a tool server",
    (left: number) =>
      toolPlan(
        scopeWith("t", "mcp_limits", { frequency: { max_calls_per_day: 1, max_calls_per_minute: 1 } }, "s", {}, left),
        { id: "s", name: "s" },
        "someone",
        NOON,
      ),
  ],
] as const)("the count %s restarts once a branch has left the group; holds, rates and calls in flight continue", (_what, planOf) => {
  const [before, after] = [planOf(0), planOf(1)];
  expect(before.windows).toHaveLength(1);
  expect([before, after, planOf(2)].map(({ windows }) => windows[0]?.epoch)).toEqual([0, 1, 2]);
  expect([after.scopes, after.buckets, after.windows.map(({ epoch: _epoch, ...rest }) => rest)]).toEqual([
    before.scopes,
    before.buckets,
    before.windows.map(({ epoch: _epoch, ...rest }) => rest),
  ]);
});
