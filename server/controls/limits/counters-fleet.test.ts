import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { jsonLog, type Log } from "../../kernel/log.ts";
import { openValkey } from "../../runtime/valkey.ts";
import { PATIENCE_MS } from "../../../tests/support/patience.ts";
import { haveValkey, startValkey, type TestValkey } from "../../../tests/support/processes/valkey.ts";
import { NOON, scope, window, bucket, plan, demand, warmed, tryCall } from "../../../tests/support/records/counter-parts.ts";
import { leastOf, until } from "../../../tests/support/until.ts";
import type { Admission } from "./admission/admission-answer.ts";
import type { Actual, Counters, Demand, Plan } from "./counters/counters.ts";
import { ValkeyCounters } from "./counters/valkey.ts";

let valkey: TestValkey | undefined;
const opened: Counters[] = [];
let tenants = 0;

beforeAll(async () => {
  if (haveValkey) valkey = await startValkey();
});
afterAll(async () => {
  await Promise.all(opened.map((counters) => counters.close()));
  await valkey?.stop();
});

if (haveValkey) {
  describe("counters of a fleet in Valkey", () => {
    const fleet = (
      clock: { now: number },
      leaseMs: number,
      more: { rowsWithinMs?: number; renewMs?: number; settlesMs?: number; log?: Log; recorded?: () => Promise<void> } = {},
    ) => {
      const counters = new ValkeyCounters({
        valkey: openValkey(valkey?.url ?? ""),
        now: () => clock.now,
        log: jsonLog("error"),
        leaseMs,
        renewMs: 3_600_000,
        settlesMs: 0,
        ...more,
      });
      opened.push(counters);
      return counters;
    };

    test("a process whose clock is an hour ahead does not refill a rate limit", async () => {
      const [right, wrong] = [fleet({ now: NOON }, 30_000), fleet({ now: NOON + 3_600_000 }, 30_000)];
      const of = plan(`t${tenants++}`, { buckets: [bucket("b", "requests", 1)] });
      expect((await tryCall(right, of, demand())).outcome.kind).toBe("admitted");
      expect((await tryCall(wrong, of, demand())).outcome).toMatchObject({ kind: "denied", denial: { by: "bucket" } });
      expect((await tryCall(right, of, demand())).outcome).toMatchObject({ kind: "denied", denial: { by: "bucket" } });
    });

    test("holds of a dead process are released once its lease expires", async () => {
      const [dies, lives] = [fleet({ now: NOON }, 300), fleet({ now: NOON }, 30_000)];
      const of = await warmed(
        lives,
        plan(`t${tenants++}`, { scopes: [scope("g", { maxConcurrent: 1 })], windows: [window("w", "micros", 100)] }),
        NOON,
      );
      expect((await tryCall(dies, of, demand(0, 100))).outcome.kind).toBe("admitted");
      expect((await tryCall(lives, of, demand(0, 100))).outcome.kind).toBe("denied");
      const deadline = Date.now() + PATIENCE_MS;
      let outcome: Admission["kind"] = "denied";
      while (outcome !== "admitted" && Date.now() < deadline) outcome = (await tryCall(lives, of, demand(0, 100))).outcome.kind;
      expect(outcome).toBe("admitted");
    });

    test("usage that a dead process counted but did not record is held until its audit row arrives, which then counts", async () => {
      const [dies, lives] = [fleet({ now: NOON }, 300), fleet({ now: NOON }, 30_000)];
      const of = await warmed(lives, plan(`t${tenants++}`, { windows: [window("w", "micros", 100)] }), NOON);
      const settled = async (id: string) => {
        expect((await dies.admit(id, of, demand(0, 50), false)).kind).toBe("admitted");
        await dies.settle({ id, plan: of, demand: demand(0, 50) }, { requests: 1, input: 1, output: 1, micros: 40 });
      };
      await settled("recorded");
      dies.sealed({ id: "recorded", plan: of });
      await settled("interrupted");
      // While the process lives, what it counted is spent. Once it is dead, only recorded usage is certain, and a call waits
      // for the rest.
      expect((await tryCall(lives, of, demand(0, 50))).outcome).toMatchObject({ kind: "denied", denial: { spent: 80 } });
      const deadline = Date.now() + PATIENCE_MS;
      let outcome: Admission["kind"] = "denied";
      while (outcome === "denied" && Date.now() < deadline) outcome = (await lives.admit("probe", of, demand(0, 50), true)).kind;
      expect(outcome).toBe("held");
      expect((await tryCall(lives, of, demand(0, 70))).outcome.kind).toBe("denied");
      await lives.resolve(async () => new Map());
      expect((await lives.admit("probe", of, demand(0, 50), true)).kind).toBe("held");
      await lives.resolve(async (_tenantId, ids) => new Map(ids.map((id) => [id, { tokens: 0, micros: 0, requests: 1, attempts: null }])));
      expect(await lives.admit("probe", of, demand(0, 50), true)).toEqual({
        kind: "admitted",
        spent: [40],
        levels: expect.any(Array),
        inFlight: expect.any(Array),
      });
    });

    test("calls that end while Valkey is emptied release nothing of what other calls hold", async () => {
      let isAway = false;
      const runner = openValkey(valkey?.url ?? "");
      const own = new ValkeyCounters({
        valkey: {
          run: (...by: Parameters<typeof runner.run>) => (isAway ? Promise.reject(new Error("away")) : runner.run(...by)),
          close: () => runner.close(),
        },
        now: () => NOON,
        log: { debug() {}, info() {}, warn() {}, error() {} } as never,
        settlesMs: 0,
      });
      opened.push(own);
      const other = fleet({ now: NOON }, 30_000);
      const of = await warmed(
        own,
        plan(`t${tenants++}`, { scopes: [scope("g", { maxConcurrent: 4 })], windows: [window("w", "micros", 100)] }),
        NOON,
      );
      const ids = ["a", "b", "c", "d"];
      for (const id of ids) expect((await own.admit(id, of, demand(0, 20), false)).kind).toBe("admitted");
      isAway = true;
      for (const id of ["a", "b"])
        await own.settle({ id, plan: of, demand: demand(0, 20) }, { requests: 1, input: 1, output: 1, micros: 5 });
      await runner.run("return redis.call('FLUSHALL')", [], []);
      await warmed(other, of, NOON);
      isAway = false;
      // Once the two finished calls are counted, the two in flight are held.
      await until(
        () => other.admit("probe", of, demand(0, 20), true),
        (found) => found.kind === "admitted" && found.spent[0] === 10,
      );
      const heldIn = (key: string) => runner.run("return redis.call('HVALS', KEYS[1])", [`gw:{${of.tenantId}}:${key}`], []);
      expect([await heldIn("c:g"), await heldIn("h:w")]).toEqual([["2"], ["40"]]);
      for (const id of ["e", "f"]) expect((await other.admit(id, of, demand(0, 20), false)).kind).toBe("admitted");
      expect((await other.admit("g", of, demand(0, 20), false)).kind).toBe("denied");
    });

    test("unrecorded usage of a process with an overdue lease is held; once it renews, it counts as spent again", async () => {
      const [silent, lives] = [fleet({ now: NOON }, 3_600_000), fleet({ now: NOON }, 3_600_000, { renewMs: 1_000 })];
      const of = await warmed(lives, plan(`t${tenants++}`, { windows: [window("w", "micros", 100)] }), NOON);
      expect((await silent.admit("counted", of, demand(0, 80), false)).kind).toBe("admitted");
      await silent.settle({ id: "counted", plan: of, demand: demand(0, 80) }, { requests: 1, input: 1, output: 1, micros: 80 });
      const outcome = () => lives.admit("probe", of, demand(0, 50), true);
      await until(outcome, ({ kind }) => kind === "held");
      // Even without what the dead process counted, this call does not fit.
      expect((await lives.admit("larger", of, demand(0, 101), true)).kind).toBe("denied");
      // If the machine stalls, a heartbeat may have expired by the time it is read, so more may be needed.
      let heartbeats = 0;
      const seen = await until(
        async () => {
          await silent.admit(`heartbeat ${heartbeats++}`, of, demand(), true);
          return outcome();
        },
        ({ kind }) => kind === "denied",
      );
      expect(seen).toMatchObject({ denial: { spent: 80 } });
      await until(outcome, ({ kind }) => kind === "held");
      silent.sealed({ id: "counted", plan: of });
      expect(await until(outcome, ({ kind }) => kind === "denied")).toMatchObject({ denial: { spent: 80 } });
    });

    test("a process with a settled but unsealed call keeps renewing its lease", async () => {
      const [slow, lives] = [fleet({ now: NOON }, 400, { renewMs: 50 }), fleet({ now: NOON }, 400)];
      const of = await warmed(lives, plan(`t${tenants++}`, { windows: [window("w", "micros", 100)] }), NOON);
      expect((await slow.admit("counted", of, demand(0, 80), false)).kind).toBe("admitted");
      await slow.settle({ id: "counted", plan: of, demand: demand(0, 80) }, { requests: 1, input: 1, output: 1, micros: 80 });
      // Several lease periods; on a busy machine one may expire, and the next renewal takes it up again.
      await Bun.sleep(2_000);
      await until(
        () => lives.admit("probe", of, demand(0, 50), true),
        ({ kind }) => kind === "denied",
      );
    });

    test("unrecorded usage of one routing group member counts by the row's attempt there", async () => {
      const [dies, lives] = [fleet({ now: NOON }, 300), fleet({ now: NOON }, 30_000)];
      const of = await warmed(lives, plan(`t${tenants++}`, { windows: [window("w", "micros", 100), window("r", "requests", 9)] }), NOON);
      for (const [id, micros] of [
        ["call/0/0", 15],
        ["call/1/1", 25],
      ] as const) {
        expect((await dies.admit(id, of, demand(0, 50), false)).kind).toBe("admitted");
        await dies.settle({ id, plan: of, demand: demand(0, 50) }, { requests: 1, input: 1, output: 1, micros });
      }
      const rows = async (_tenantId: string, ids: readonly string[]) =>
        new Map(
          ids.map((id) => [
            id,
            {
              tokens: 0,
              micros: 35,
              requests: 1,
              attempts: [
                { tokens: 2, micros: 15 },
                { tokens: 2, micros: 20 },
              ],
            },
          ]),
        );
      const deadline = Date.now() + PATIENCE_MS;
      let now: Admission;
      do {
        await lives.resolve(rows);
        now = await lives.admit("probe", of, demand(0, 50), true);
      } while (JSON.stringify(now.kind === "admitted" && now.spent) !== "[35,2]" && Date.now() < deadline);
      expect(now).toEqual({ kind: "admitted", spent: [35, 2], levels: expect.any(Array), inFlight: expect.any(Array) });
    });

    test("usage of a lost process that no row ever records is released after a while", async () => {
      const [dies, lives] = [fleet({ now: NOON }, 300), fleet({ now: NOON }, 30_000, { rowsWithinMs: 300 })];
      const of = await warmed(
        lives,
        plan(`t${tenants++}`, { windows: [window("m", "micros", 100), window("r", "requests", 4), window("c", "tool_calls", 20)] }),
        NOON,
      );
      const admitted = async (id: string) => expect((await dies.admit(id, of, demand(0, 20, 2), false)).kind).toBe("admitted");
      const settle = (id: string, actual: Partial<Actual>) =>
        dies.settle({ id, plan: of, demand: demand(0, 20, 2) }, { requests: 1, input: 1, output: 1, micros: 15, ...actual });
      await admitted("recorded");
      await settle("recorded", {});
      await admitted("never recorded");
      await settle("never recorded", {});
      await admitted("never left");
      await settle("never left", { requests: 0, micros: 0 });
      await admitted("never ended");
      dies.sealed({ id: "recorded", plan: of });
      await admitted("tells of the sealed one");
      // Of what was counted, only the recorded call's usage is certain.
      const spent = async () => {
        const tried = await lives.admit("probe", of, demand(), true);
        return tried.kind === "admitted" ? tried.spent : tried;
      };
      expect(await spent()).toMatchObject({ kind: "denied", denial: { by: "window", index: 1, spent: 4 } });
      const rows = async (_tenantId: string, ids: readonly string[]) =>
        new Map(
          ids.includes("tells of the sealed one")
            ? [["tells of the sealed one", { tokens: 0, micros: 0, requests: 1, attempts: null }]]
            : [],
        );
      const deadline = Date.now() + PATIENCE_MS;
      let now: unknown;
      for (;;) {
        await lives.resolve(rows);
        now = await spent();
        if (JSON.stringify(now) === "[15,2,4]" || Date.now() > deadline) break;
      }
      // Two requests are recorded: 15 micro-dollars for one, none for the other, and the tool results of both.
      expect(now).toEqual([15, 2, 4]);
    });

    test("a process that returns after its lease expired does not count as dead", async () => {
      const clock = { now: NOON };
      const [slow, lives] = [fleet(clock, 200), fleet({ now: NOON }, 30_000, { rowsWithinMs: 0 })];
      const of = await warmed(lives, plan(`t${tenants++}`, { windows: [window("r", "requests", 9)] }), NOON);
      expect((await slow.admit("long", of, demand(), false)).kind).toBe("admitted");
      clock.now += 1_000;
      const deadline = Date.now() + PATIENCE_MS;
      // The lease has also expired for the server once nothing that it covers is counted.
      while (Date.now() < deadline && (await dead(valkey?.url ?? "", of.tenantId)) === 0);
      expect((await slow.admit("next", of, demand(), false)).kind).toBe("admitted");
      await lives.resolve(async () => new Map());
      expect(await lives.admit("probe", of, demand(), true)).toEqual({
        kind: "admitted",
        spent: [2],
        levels: expect.any(Array),
        inFlight: expect.any(Array),
      });
    });

    test("while an emptied store is refilled, calls that held or late usage could forbid are not admitted", async () => {
      const { promise: recorded, resolve: record } = Promise.withResolvers<void>();
      const [one, two] = [
        fleet({ now: NOON }, 30_000, { settlesMs: 1_500, recorded: () => recorded }),
        fleet({ now: NOON }, 30_000, { settlesMs: 1_500 }),
      ];
      const of = plan(`t${tenants++}`, { windows: [window("w", "micros", 100)] });
      await admittedOnce(one, of, "in flight", demand(0, 60));
      const store = openValkey(valkey?.url ?? "");
      await store.run("return redis.call('FLUSHALL')", [], []);
      const settles = async () =>
        Number(await store.run("return redis.call('HGET', KEYS[1], 'settles')", [`gw:{${of.tenantId}}:generation`], []));
      // Another process reads the totals, which lack the call in flight and at first also the usage that is recorded late.
      let truth = 0;
      let first = 0;
      const seen: string[] = [];
      for (;;) {
        const { kind } = await two.admit("probe", of, demand(0, 56), true);
        if (seen.at(-1) !== kind) seen.push(kind);
        if (kind === "cold") await two.warm(of, new Map([[0, truth]]), NOON);
        else if (kind !== "held") break;
        first ||= await settles();
        // A process that is late holds back calls again and again.
        if (truth === 0 && (await settles()) > first) {
          truth = 45;
          record();
        }
      }
      store.close();
      expect(seen).toEqual(["cold", "held", "cold", "denied"]);
      // 45 recorded and 60 in flight: what fits beside the recorded amount alone must wait for the call in flight.
      expect((await two.admit("probe", of, demand(0, 50), true)).kind).toBe("held");
      await one.settle({ id: "in flight", plan: of, demand: demand(0, 60) }, { requests: 1, input: 1, output: 1, micros: 5 });
      expect(await two.admit("probe", of, demand(0, 50), true)).toMatchObject({ kind: "admitted", spent: [50] });
    });

    test("holds are restored only once, even if several calls notice that the store was emptied", async () => {
      const noticed: string[] = [];
      const log = { ...jsonLog("error"), warn: (event: string) => noticed.push(event) };
      const [one, two] = [fleet({ now: NOON }, 30_000, { log }), fleet({ now: NOON }, 30_000)];
      const of = plan(`t${tenants++}`, {
        scopes: [scope("g", { maxConcurrent: 3 })],
        windows: [window("w", "micros", 100), window("r", "requests", 9)],
      });
      await admittedOnce(one, of, "in flight", demand(0, 40));
      const flush = openValkey(valkey?.url ?? "");
      await flush.run("return redis.call('FLUSHALL')", [], []);
      flush.close();
      await two.warm(of, new Map([0, 1].map((index) => [index, 0])), NOON);
      await admittedOnce(one, of, "next", demand(0, 10));
      while (!noticed.includes("limits_store_emptied")) await Bun.sleep(10);
      expect(await two.admit("probe", of, demand(0, 50), true)).toMatchObject({ kind: "admitted", spent: [0, 2] });
      expect((await two.admit("probe", of, demand(0, 51), true)).kind).toBe("held");
      await admittedOnce(two, of, "third", demand(0, 10));
      expect((await two.admit("probe", of, demand(0, 1), true)).kind).toBe("denied");
      await one.settle({ id: "in flight", plan: of, demand: demand(0, 40) }, { requests: 1, input: 1, output: 1, micros: 30 });
      await two.settle({ id: "third", plan: of, demand: demand(0, 10) }, { requests: 1, input: 1, output: 1, micros: 10 });
      expect(await two.admit("probe", of, demand(0, 50), true)).toMatchObject({ kind: "admitted", spent: [40, 3] });
    });

    test("a call fails at once while Valkey is unreachable", async () => {
      const took = await leastOf(3, 2_000, async () => {
        const away = new ValkeyCounters({ valkey: openValkey("redis://127.0.0.1:1"), now: () => NOON, log: jsonLog("error") });
        const began = performance.now();
        const asked = [1, 2].map(() => away.admit("x", plan("t", {}), demand(), true));
        expect((await Promise.allSettled(asked)).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
        const ms = performance.now() - began;
        await away.close();
        return ms;
      });
      expect(took).toBeLessThan(2_000);
    });
  });
}

/** Admits one call to windows that have no counts yet. */
async function admittedOnce(counters: Counters, of: Plan, id: string, wanted: Demand): Promise<void> {
  for (;;) {
    const { kind } = await counters.admit(id, of, wanted, false);
    if (kind === "admitted") return;
    if (kind === "cold") await counters.warm(of, new Map(of.windows.map((_, index) => [index, 0])), NOON);
    else if (kind !== "held") throw new Error(kind);
  }
}

/** Number of owners whose lease has expired. */
async function dead(url: string, tenantId: string): Promise<number> {
  const client = openValkey(url);
  const found = await client.run(
    "local t = redis.call('TIME') return redis.call('ZCOUNT', KEYS[1], '-inf', tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000))",
    [`gw:{${tenantId}}:owners`],
    [],
  );
  client.close();
  return Number(found);
}
