import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { jsonLog } from "../../../kernel/log.ts";
import { openValkey } from "../../../runtime/valkey.ts";
import { haveValkey, startValkey, type TestValkey } from "../../../../tests/support/processes/valkey.ts";
import {
  DAY,
  NOON,
  LATE,
  scope,
  window,
  bucket,
  plan,
  nothing,
  demand,
  warmed,
  tryCall,
} from "../../../../tests/support/records/counter-parts.ts";
import type { Actual, Counters, Demand, Plan } from "./counters.ts";
import { InProcessCounters } from "./in-process.ts";
import { counterAnswerers, RemoteCounters } from "./remote-counters.ts";
import { ServedCounters } from "./served-counters.ts";
import { ValkeyCounters } from "./valkey.ts";

/** One suite for all implementations of the counters. The clock is the test's own. */

interface Home {
  readonly name: string;
  /** Counters on this clock, with a tenant of their own. */
  make(clock: { now: number }): { counters: Counters; tenantId: string };
}

let valkey: TestValkey | undefined;
const opened: Counters[] = [];
let tenants = 0;

const homes: Home[] = [
  { name: "in process", make: (clock) => ({ counters: new InProcessCounters(() => clock.now), tenantId: `t${tenants++}` }) },
  {
    name: "in the first process",
    make: (clock) => {
      const now = () => clock.now;
      const served = new ServedCounters({ counters: new InProcessCounters(now), now, log: jsonLog("error") }).serve();
      const answerers = counterAnswerers(served) as Record<string, (value: unknown) => unknown>;
      const carryOut = (name: string, value: unknown) => structuredClone(answerers[name]?.(structuredClone(value)));
      const counters = new RemoteCounters({
        ask: (name, value) => Promise.resolve().then(() => carryOut(name, value)),
        tell: (name, value) => void carryOut(name, value),
      });
      return { counters, tenantId: `t${tenants++}` };
    },
  },
  ...(haveValkey
    ? [
        {
          name: "Valkey",
          make: (clock: { now: number }) => {
            const counters = new ValkeyCounters({
              valkey: openValkey(valkey?.url ?? ""),
              now: () => clock.now,
              log: jsonLog("error"),
              settlesMs: 0,
            });
            opened.push(counters);
            return { counters, tenantId: `t${tenants++}` };
          },
        },
      ]
    : []),
];

beforeAll(async () => {
  if (haveValkey) valkey = await startValkey();
});
afterAll(async () => {
  await Promise.all(opened.map((counters) => counters.close()));
  await valkey?.stop();
});

for (const home of homes) {
  describe(home.name, () => {
    describe("of M concurrent calls exactly N pass a limit of N:", () => {
      const kinds: [name: string, of: (tenantId: string, n: number) => Plan, wants: Demand][] = [
        ["requests of a day", (t, n) => plan(t, { windows: [window("w", "requests", n)] }), demand()],
        ["tokens of a day", (t, n) => plan(t, { windows: [window("w", "tokens", n * 70 + 69)] }), demand(70)],
        ["dollars of a month", (t, n) => plan(t, { windows: [window("w", "micros", n * 333)] }), demand(0, 333)],
        ["tool calls of an hour", (t, n) => plan(t, { windows: [window("w", "tool_calls", n * 2)] }), demand(0, 0, 2)],
        ["requests a minute", (t, n) => plan(t, { buckets: [bucket("b", "requests", n)] }), demand()],
        ["calls at once", (t, n) => plan(t, { scopes: [scope("g", { maxConcurrent: n })] }), demand()],
        [
          "four levels, the second the tightest",
          (t, n) =>
            plan(t, {
              scopes: [scope("a"), scope("b"), scope("c"), scope("d")],
              windows: [
                window("a", "requests", 10 * n),
                window("b", "requests", n, { scope: 1 }),
                window("c", "micros", 30 * n, { scope: 2 }),
                window("d", "requests", 99 * n, { scope: 3 }),
              ],
            }),
          demand(0, 3),
        ],
      ];
      test.each(kinds)("%s, 200 rounds", async (_name, make, wants) => {
        for (let round = 0; round < 200; round++) {
          const { counters, tenantId } =
            round === 0 || home.name !== "Valkey"
              ? home.make({ now: NOON })
              : { counters: opened.at(-1) as Counters, tenantId: `t${tenants++}` };
          const n = 1 + (round % 7);
          const of = await warmed(counters, make(tenantId, n), NOON);
          const outcomes = await Promise.all(Array.from({ length: n + 1 + (round % 5) }, () => tryCall(counters, of, wants)));
          expect(outcomes.filter(({ outcome }) => outcome.kind === "admitted").length).toBe(n);
        }
      });
    });

    test("a refusal at one level takes nothing at the others", async () => {
      const { counters, tenantId } = home.make({ now: NOON });
      const of = await warmed(
        counters,
        plan(tenantId, {
          scopes: [scope("leaf", { maxConcurrent: 5 }), scope("root")],
          windows: [window("leaf", "micros", 1000), window("root", "requests", 0, { scope: 1 })],
          buckets: [bucket("b", "requests", 1)],
        }),
        NOON,
      );
      expect((await tryCall(counters, of, demand(0, 10))).outcome).toMatchObject({ kind: "denied", denial: { by: "window", index: 1 } });
      const alone = { ...of, windows: of.windows.slice(0, 1) };
      expect((await tryCall(counters, alone, demand(0, 1000))).outcome).toMatchObject({ kind: "admitted", levels: [0], inFlight: [1, 0] });
    });

    test("a call waits for held amounts and is refused for spent ones; settling releases the difference", async () => {
      const { counters, tenantId } = home.make({ now: NOON });
      const of = await warmed(counters, plan(tenantId, { windows: [window("w", "micros", 100)] }), NOON);
      const first = await tryCall(counters, of, demand(0, 90));
      expect((await tryCall(counters, of, demand(0, 20))).outcome).toEqual({ kind: "held", key: "w" });
      expect((await tryCall(counters, of, demand(0, 101))).outcome).toMatchObject({ kind: "denied", denial: { by: "window", spent: 0 } });
      expect(
        await counters.settle({ id: first.id, plan: of, demand: demand(0, 90) }, { requests: 1, input: 1, output: 1, micros: 30 }),
      ).toEqual([30]);
      // Idempotent.
      expect(
        await counters.settle({ id: first.id, plan: of, demand: demand(0, 90) }, { requests: 1, input: 1, output: 1, micros: 30 }),
      ).toEqual([]);
      expect((await tryCall(counters, of, demand(0, 71))).outcome).toMatchObject({ kind: "denied", denial: { by: "window", spent: 30 } });
      expect((await tryCall(counters, of, demand(0, 70))).outcome.kind).toBe("admitted");
    });

    test("suspending a call's hold counts its usage and frees the rest, and settling counts the remainder once", async () => {
      const { counters, tenantId } = home.make({ now: NOON });
      const of = await warmed(
        counters,
        plan(tenantId, {
          scopes: [scope("g", { maxConcurrent: 1 })],
          windows: [window("w", "micros", 100), window("r", "requests", 9)],
          buckets: [bucket("b", "micros", 1_000)],
        }),
        NOON,
      );
      const aside: Plan = { ...of, scopes: [scope("g")], windows: of.windows.slice(0, 1), unpaced: true };
      const first = await tryCall(counters, of, demand(0, 90));
      const held = { id: first.id, plan: of, demand: demand(0, 90) };
      expect((await tryCall(counters, aside, demand(0, 20))).outcome.kind).toBe("held");
      await counters.part(held, { requests: 0, input: 0, output: 0, micros: 30 });
      await counters.part(held, { requests: 0, input: 0, output: 0, micros: 30 });
      // It keeps its concurrency slot until it ends; an unpaced call needs none.
      expect((await tryCall(counters, of, demand(0, 20))).outcome).toMatchObject({ kind: "denied", denial: { by: "concurrency" } });
      const second = await tryCall(counters, aside, demand(0, 70));
      expect(second.outcome).toEqual({ kind: "admitted", spent: [30], levels: [], inFlight: [] });
      expect(
        await counters.settle({ id: second.id, plan: aside, demand: demand(0, 70) }, { requests: 1, input: 0, output: 0, micros: 20 }),
      ).toEqual([50]);
      expect(await counters.settle(held, { requests: 1, input: 0, output: 0, micros: 35 })).toEqual([55, 1]);
      await counters.part(held, { requests: 0, input: 0, output: 0, micros: 30 });
      const last = await tryCall(counters, of, demand(0, 45));
      expect(last.outcome).toEqual({ kind: "admitted", spent: [55, 2], levels: expect.any(Array), inFlight: [1] });
    });

    test("one call's hold is transferred when another is admitted, and stays when that one is refused", async () => {
      const { counters, tenantId } = home.make({ now: NOON });
      const of = await warmed(counters, plan(tenantId, { windows: [window("w", "micros", 100)] }), NOON);
      const first = await tryCall(counters, of, demand(0, 60));
      const held = { id: first.id, plan: of, demand: demand(0, 60) };
      const next = (micros: number) => ({ id: `next-${micros}`, plan: of, demand: demand(0, micros) });
      expect(await counters.transfer([held], next(101))).toMatchObject({ kind: "denied" });
      expect((await tryCall(counters, of, demand(0, 60))).outcome.kind).toBe("held");
      expect(await counters.transfer([held], next(70))).toMatchObject({ kind: "admitted", spent: [0] });
      // It holds nothing any more that could be transferred a second time.
      expect((await counters.transfer([held], next(31))).kind).toBe("held");
      expect(await counters.settle(held, { requests: 1, input: 0, output: 0, micros: 5 })).toEqual([5]);
      expect((await tryCall(counters, of, demand(0, 26))).outcome.kind).toBe("held");
      expect((await tryCall(counters, of, demand(0, 25))).outcome.kind).toBe("admitted");
      expect(await counters.settle(next(70), { requests: 1, input: 0, output: 0, micros: 70 })).toEqual([75]);
    });

    test("an unpaced call ignores empty buckets and cooldowns, and is charged to the buckets", async () => {
      const { counters, tenantId } = home.make({ now: NOON });
      const of = plan(tenantId, { scopes: [scope("g", { cooldownMs: 60_000 })], buckets: [bucket("b", "output", 60, 10)] });
      const aside: Plan = { ...of, unpaced: true };
      const used: Actual = { requests: 1, input: 0, output: 10, micros: 0 };
      const first = await tryCall(counters, aside, demand());
      await counters.settle({ id: first.id, plan: aside, demand: demand() }, used);
      expect((await tryCall(counters, of, demand())).outcome.kind).toBe("denied");
      expect((await tryCall(counters, aside, demand())).outcome.kind).toBe("admitted");
    });

    test.each([
      ["its request", "requests", demand()],
      ["the tool calls it declared", "tool_calls", demand(0, 0, 2)],
    ] as const)("a call that was never sent releases %s", async (_name, measure, wants) => {
      const { counters, tenantId } = home.make({ now: NOON });
      const of = await warmed(counters, plan(tenantId, { windows: [window("w", measure, measure === "requests" ? 1 : 2)] }), NOON);
      const first = await tryCall(counters, of, wants);
      expect((await tryCall(counters, of, wants)).outcome.kind).toBe("denied");
      await counters.settle({ id: first.id, plan: of, demand: wants }, nothing);
      expect((await tryCall(counters, of, wants)).outcome.kind).toBe("admitted");
    });

    test("a call that must leave room in a bucket is refused without a cooldown for the others", async () => {
      const clock = { now: NOON };
      const { counters, tenantId } = home.make(clock);
      const of = plan(tenantId, { scopes: [scope("g", { cooldownMs: 60_000 })], buckets: [bucket("b", "requests", 4)] });
      const modest: Plan = { ...of, buckets: of.buckets.map((one) => ({ ...one, leave: 1 })) };
      for (let i = 0; i < 3; i++) expect((await tryCall(counters, modest, demand())).outcome.kind).toBe("admitted");
      const refused = (await tryCall(counters, modest, demand())).outcome;
      expect(refused).toMatchObject({ kind: "denied", denial: { by: "bucket", retryAfterMs: expect.any(Number) } });
      expect((await tryCall(counters, of, demand())).outcome.kind).toBe("admitted");
    });

    test("tokens and dollars per minute are charged afterwards, and an empty bucket starts a cooldown of its scope", async () => {
      const clock = { now: NOON };
      const { counters, tenantId } = home.make(clock);
      const of = plan(tenantId, { scopes: [scope("g", { cooldownMs: 60_000 })], buckets: [bucket("b", "output", 600, 100)] });
      const first = await tryCall(counters, of, demand());
      await counters.settle({ id: first.id, plan: of, demand: demand() }, { requests: 1, input: 5, output: 100, micros: 0 });
      const refused = await tryCall(counters, of, demand());
      expect(refused.outcome).toMatchObject({ kind: "denied", denial: { by: "cooldown", limitType: "output_per_minute" } });
    });

    test("retry-after covers both the cooldown and the time until the bucket has refilled", async () => {
      const clock = { now: NOON };
      const { counters, tenantId } = home.make(clock);
      const of = plan(tenantId, { scopes: [scope("g", { cooldownMs: 5_000 })], buckets: [bucket("b", "requests", 2)] });
      for (let i = 0; i < 2; i++) expect((await tryCall(counters, of, demand())).outcome.kind).toBe("admitted");
      const waits: unknown[] = [];
      for (let i = 0; i < 2; i++) {
        const { outcome } = await tryCall(counters, of, demand());
        if (outcome.kind === "denied" && "retryAfterMs" in outcome.denial) waits.push([outcome.denial.by, outcome.denial.retryAfterMs]);
      }
      expect(waits).toEqual([
        ["bucket", 30_000],
        ["cooldown", 30_000],
      ]);
    });

    test("an unknown window is cold until it gets its recorded usage", async () => {
      const { counters, tenantId } = home.make({ now: NOON });
      const of = plan(tenantId, { windows: [window("w", "tokens", 100), window("v", "requests", 5)] });
      expect((await tryCall(counters, of, demand(1))).outcome).toEqual({ kind: "cold", windows: [0, 1] });
      await counters.warm(
        of,
        new Map([
          [0, 95],
          [1, 4],
        ]),
        NOON,
      );
      expect((await tryCall(counters, of, demand(5))).outcome).toEqual({
        kind: "admitted",
        spent: [95, 5],
        levels: expect.any(Array),
        inFlight: expect.any(Array),
      });
      // The totals lag behind: usage that they lack is not forgotten.
      await counters.warm(
        of,
        new Map([
          [0, 95],
          [1, 4],
        ]),
        NOON,
      );
      expect((await tryCall(counters, of, demand(1))).outcome).toMatchObject({ kind: "denied" });
    });

    test("a new epoch restarts a window's count, keeps its holds, and counts what settles later", async () => {
      const { counters, tenantId } = home.make({ now: NOON });
      const before = await warmed(counters, plan(tenantId, { windows: [window("w", "micros", 100)] }), NOON);
      const after: Plan = { ...before, windows: [window("w", "micros", 100, { epoch: 1 })] };
      await counters.warm(before, new Map([[0, 70]]), NOON);
      const job = { id: "job", plan: before, demand: demand(0, 25) };
      expect((await counters.admit(job.id, before, job.demand, false)).kind).toBe("admitted");
      expect((await tryCall(counters, after, demand(0, 60))).outcome).toEqual({ kind: "cold", windows: [0] });
      await counters.warm(after, new Map([[0, 30]]), NOON);
      expect((await tryCall(counters, after, demand(0, 60))).outcome).toEqual({ kind: "held", key: "w" });
      // A process that does not know the later epoch yet still reads all earlier usage.
      await counters.warm(before, new Map([[0, 70]]), NOON);
      expect((await tryCall(counters, before, demand(0, 60))).outcome.kind).toBe("held");
      expect(await counters.settle(job, { requests: 1, input: 0, output: 0, micros: 20 })).toEqual([50]);
      expect((await tryCall(counters, after, demand(0, 51))).outcome).toMatchObject({ kind: "denied", denial: { spent: 50 } });
      expect((await tryCall(counters, after, demand(0, 50))).outcome.kind).toBe("admitted");
    });

    test("usage settled while a window restarts with a new epoch is not lost", async () => {
      const { counters, tenantId } = home.make({ now: NOON });
      const before = await warmed(counters, plan(tenantId, { windows: [window("w", "micros", 100)] }), NOON);
      const after: Plan = { ...before, windows: [window("w", "micros", 100, { epoch: 1 })] };
      const call = await tryCall(counters, before, demand(0, 60));
      expect((await tryCall(counters, after, demand())).outcome.kind).toBe("cold");
      await counters.settle({ id: call.id, plan: before, demand: demand(0, 60) }, { requests: 1, input: 0, output: 0, micros: 60 });
      await counters.warm(after, new Map([[0, 30]]), NOON);
      expect((await tryCall(counters, after, demand(0, 11))).outcome).toMatchObject({ kind: "denied", denial: { spent: 90 } });
    });

    test("a probe takes nothing", async () => {
      const { counters, tenantId } = home.make({ now: NOON });
      const of = await warmed(counters, plan(tenantId, { windows: [window("w", "requests", 1)] }), NOON);
      expect((await counters.admit("probe", of, demand(), true)).kind).toBe("admitted");
      expect((await tryCall(counters, of, demand())).outcome.kind).toBe("admitted");
    });
  });
}

describe("compared with a simple reference implementation", () => {
  // Now and then the clock jumps an hour forward or back, across midnight too.
  const passing = fc.oneof(
    { weight: 9, arbitrary: fc.integer({ min: 0, max: 40_000 }) },
    { weight: 1, arbitrary: fc.constantFrom(-3_600_000, 3_600_000) },
  );
  const step = fc.record({
    wait: passing,
    level: fc.integer({ min: 0, max: 2 }),
    tokens: fc.integer({ min: 0, max: 60 }),
    used: fc.integer({ min: 0, max: 60 }),
    settle: fc.boolean(),
  });

  /** Three levels, each with a daily token quota, a request bucket and a concurrency limit. */
  class Reference {
    private readonly days = new Map<number, { spent: number[]; held: number[] }>();
    private readonly inFlight = [0, 0, 0];
    private readonly level = [3, 6, 9];
    /** When each bucket was last refilled; a clock behind that time refills nothing. */
    private readonly at: (number | undefined)[] = [];

    private day(of: number): { spent: number[]; held: number[] } {
      const known = this.days.get(of) ?? { spent: [0, 0, 0], held: [0, 0, 0] };
      this.days.set(of, known);
      return known;
    }

    spent(day: number): readonly number[] {
      return this.day(day).spent;
    }

    admit(now: number, day: number, from: number, tokens: number): string {
      const { spent, held } = this.day(day);
      const on = [0, 1, 2].slice(from);
      if (on.some((i) => (this.inFlight[i] as number) >= 2 + i)) return "denied concurrency";
      for (const i of on) {
        const passed = Math.max(0, now - (this.at[i] ??= now));
        this.at[i] = Math.max(now, this.at[i] as number);
        this.level[i] = Math.min(3 * (i + 1), (this.level[i] as number) + (passed * 3 * (i + 1)) / 60_000);
        if ((this.level[i] as number) < 1 - 1e-9) return "denied bucket";
      }
      if (on.some((i) => (spent[i] as number) + tokens > 100 * (i + 1) || (tokens > 0 && (spent[i] as number) >= 100 * (i + 1))))
        return "denied window";
      if (on.some((i) => tokens > 0 && (spent[i] as number) + (held[i] as number) + tokens > 100 * (i + 1))) return "held";
      for (const i of on) {
        (held[i] as number) += tokens;
        (this.inFlight[i] as number)++;
        (this.level[i] as number)--;
      }
      return "admitted";
    }

    settle(day: number, from: number, tokens: number, used: number): void {
      const { spent, held } = this.day(day);
      for (const i of [0, 1, 2].slice(from)) {
        (held[i] as number) -= tokens;
        (spent[i] as number) += used;
        (this.inFlight[i] as number)--;
      }
    }
  }

  const planAt = (tenantId: string, day: number, from: number): Plan => {
    const on = [0, 1, 2].slice(from);
    return plan(tenantId, {
      scopes: on.map((i) => scope(`s${i}`, { maxConcurrent: 2 + i })),
      windows: on.map((i, at) =>
        window(`w${i}/${day}`, "tokens", 100 * (i + 1), { scope: at, startsAt: day * DAY, resetsAt: (day + 1) * DAY }),
      ),
      buckets: on.map((i, at) => ({ ...bucket(`b${i}`, "requests", 3 * (i + 1)), scope: at })),
    });
  };

  for (const { name, runs } of [{ name: "in process", runs: 10_000 }, ...(haveValkey ? [{ name: "Valkey", runs: 300 }] : [])]) {
    test(`${name}: the same results over ${runs.toLocaleString("en")} random histories`, async () => {
      const home = homes.find((one) => one.name === name) as Home;
      const clock = { now: NOON };
      // The server's clock bounds the tenant's, so the process's own clock alone refills nothing there.
      const still = name === "Valkey";
      const shared = still ? home.make(clock) : null;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 30, size: "max" }), async (steps) => {
          clock.now = LATE;
          const { counters, tenantId } = shared === null ? home.make(clock) : { counters: shared.counters, tenantId: `t${tenants++}` };
          const plans = new Map<string, Plan>();
          const planOf = (day: number, from: number): Plan => {
            const known = plans.get(`${day} ${from}`) ?? planAt(tenantId, day, from);
            plans.set(`${day} ${from}`, known);
            return known;
          };
          const reference = new Reference();
          const open: { id: string; day: number; from: number; tokens: number }[] = [];
          for (const { wait, level, tokens, used, settle } of steps) {
            clock.now += wait;
            const day = Math.floor(clock.now / DAY);
            const first = open[0];
            if (settle && first !== undefined) {
              open.shift();
              const actual = Math.min(used, first.tokens);
              reference.settle(first.day, first.from, first.tokens, actual);
              await counters.settle(
                { id: first.id, plan: planOf(first.day, first.from), demand: demand(first.tokens) },
                { requests: 1, input: actual, output: 0, micros: 0 },
              );
              continue;
            }
            const of = planOf(day, level);
            let { id, outcome } = await tryCall(counters, of, demand(tokens));
            // The window was never used, or ended so long ago that it was forgotten.
            if (outcome.kind === "cold") {
              await counters.warm(of, new Map(outcome.windows.map((i) => [i, reference.spent(day)[level + i] as number])), clock.now);
              ({ id, outcome } = await tryCall(counters, of, demand(tokens)));
            }
            const said = outcome.kind === "denied" ? `denied ${outcome.denial.by}` : outcome.kind;
            expect(said).toBe(reference.admit(still ? LATE : clock.now, day, level, tokens));
            if (said === "admitted") open.push({ id, day, from: level, tokens });
          }
        }),
        { numRuns: runs },
      );
    });
  }
});

describe("time in the in-process counters", () => {
  test("a clock going back refills nothing, and one going forward no more than the bucket's size", () => {
    const clock = { now: NOON };
    const counters = new InProcessCounters(() => clock.now);
    const of = plan("t", { buckets: [bucket("b", "requests", 60, 2)] });
    let made = 0;
    const pass = () => counters.admit(`c${made++}`, of, demand(), false).kind;
    expect([pass(), pass(), pass()]).toEqual(["admitted", "admitted", "denied"]);
    clock.now -= 3_600_000;
    expect(pass()).toBe("denied");
    clock.now += 3_600_000 + 1_000;
    expect([pass(), pass()]).toEqual(["admitted", "denied"]);
  });

  test("ended windows are dropped, so that memory stays bounded", () => {
    const clock = { now: NOON };
    const counters = new InProcessCounters(() => clock.now);
    for (let day = 0; day < 50; day++) {
      for (let i = 0; i < 100; i++) {
        const of = plan("t", {
          scopes: [scope(`g${i}-${day}`, { maxConcurrent: 5 })],
          windows: [window(`w${i}-${day}`, "requests", 10, { resetsAt: clock.now + DAY })],
        });
        counters.warm(of, new Map([[0, 0]]));
        counters.admit(`x${day}-${i}`, of, demand(), false);
        counters.settle({ id: `x${day}-${i}`, plan: of, demand: demand() }, nothing);
      }
      clock.now += DAY + 7_200_000;
    }
    expect(counters.size).toBeLessThan(500);
  });
});
