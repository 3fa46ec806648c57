import { describe, expect, test } from "bun:test";
import { jsonLog } from "../../../kernel/log.ts";
import { bucket, demand, NOON, plan, scope, warmed, window } from "../../../../tests/support/records/counter-parts.ts";
import type { Admission } from "../admission/admission-answer.ts";
import type { Plan } from "./counters.ts";
import { InProcessCounters } from "./in-process.ts";
import { ServedCounters } from "./served-counters.ts";

function group() {
  const clock = { now: NOON };
  const now = () => clock.now;
  const counters = new ServedCounters({ counters: new InProcessCounters(now), now, log: jsonLog("error") });
  return { clock, counters, processes: [counters.serve(), counters.serve()] as const };
}

const spentOf = (found: Admission) => (found.kind === "admitted" ? found.spent : found);
const used = (micros: number) => ({ requests: 1 as const, input: 0, output: 0, micros });
const row = (micros: number) => ({ tokens: 0, micros, requests: 1, attempts: null });

describe("counters shared by the processes of one machine", () => {
  test("apply quotas, rates and concurrency limits across processes", async () => {
    const { counters, processes } = group();
    const [a, b] = processes;
    const of = await warmed(
      counters,
      plan("t", {
        scopes: [scope("g", { maxConcurrent: 2 })],
        windows: [window("w", "requests", 3)],
        buckets: [bucket("b", "requests", 2)],
      }),
      NOON,
    );
    expect(a.admit("1", of, demand(), false)).toMatchObject({ kind: "admitted", inFlight: [1] });
    expect(b.admit("2", of, demand(), false)).toMatchObject({ kind: "admitted", inFlight: [2] });
    expect(counters.admit("3", of, demand(), false)).toMatchObject({ denial: { by: "concurrency" } });
    a.settle("1", used(0));
    expect(b.admit("3", of, demand(), false)).toMatchObject({ denial: { by: "bucket" } });
  });

  test("admit the first call of a run without warming its window", () => {
    const { processes } = group();
    const run: Plan = plan("t", { windows: [{ ...window("r", "micros", 100), truth: null, resetsAt: Number.POSITIVE_INFINITY }] });
    expect(processes[0].admit("1", run, demand(0, 60), false).kind).toBe("admitted");
  });

  test("release a dead process's concurrency slots at once, and its quota holds once its rows arrive", async () => {
    const { counters, processes } = group();
    const [dies, lives] = processes;
    const of = await warmed(
      counters,
      plan("t", { scopes: [scope("g", { maxConcurrent: 1 })], windows: [window("w", "micros", 100)] }),
      NOON,
    );
    expect(dies.admit("open", of, demand(0, 60), false).kind).toBe("admitted");
    dies.left();
    expect(lives.admit("next", of, demand(0, 60), false).kind).toBe("held");
    await counters.resolve(async () => new Map());
    expect(lives.admit("next", of, demand(0, 60), false).kind).toBe("held");
    await counters.resolve(async (_tenant, ids) => new Map(ids.map((id) => [id, row(30)])));
    expect(spentOf(lives.admit("next", of, demand(0, 60), false))).toEqual([30]);
    expect(lives.settle("next", used(60))).toEqual([90]);
    // Its slot was released once, and not again when it was settled.
    expect(lives.admit("one", of, demand(0, 1), false)).toMatchObject({ kind: "admitted", inFlight: [1] });
    expect(lives.admit("two", of, demand(0, 1), false)).toMatchObject({ denial: { by: "concurrency" } });
  });

  test("take a dead process's unrecorded usage from its rows, and keep the recorded usage", async () => {
    const { counters, processes } = group();
    const [dies, lives] = processes;
    const of = await warmed(counters, plan("t", { windows: [window("w", "micros", 200), window("n", "requests", 10)] }), NOON);
    for (const id of ["recorded", "interrupted"]) {
      dies.admit(id, of, demand(0, 50), false);
      dies.settle(id, used(40));
    }
    dies.sealed("recorded");
    dies.left();
    const asked: string[] = [];
    await counters.resolve(async (_tenant, ids) => {
      asked.push(...ids);
      return new Map(ids.map((id) => [id, row(0)]));
    });
    expect(asked).toEqual(["interrupted"]);
    expect(spentOf(lives.admit("next", of, demand(0, 50), true))).toEqual([40, 2]);
  });

  test("count several holds of one call once when its process dies", async () => {
    const { counters, processes } = group();
    const [dies, lives] = processes;
    const of = await warmed(counters, plan("t", { windows: [window("w", "micros", 200)] }), NOON);
    for (const id of ["failed", "failed/again/0", "lent", "lent/held"]) dies.admit(id, of, demand(0, 50), false);
    dies.part("lent", used(0));
    dies.left();
    await counters.resolve(async (_tenant, ids) => new Map(ids.map((id) => [id, row(30)])));
    expect(spentOf(lives.admit("next", of, demand(0, 140), true))).toEqual([60]);
  });

  test("release a hold that no row ever records", async () => {
    const { clock, counters, processes } = group();
    const [dies, lives] = processes;
    const of = await warmed(counters, plan("t", { windows: [window("w", "micros", 100), window("n", "requests", 1)] }), NOON);
    dies.admit("lost", of, demand(0, 100), false);
    dies.left();
    await counters.resolve(async () => new Map());
    expect(lives.admit("next", of, demand(0, 100), false).kind).toBe("denied");
    clock.now += 60_000;
    await counters.resolve(async () => new Map());
    expect(lives.admit("next", of, demand(0, 100), false).kind).toBe("admitted");
  });
});
