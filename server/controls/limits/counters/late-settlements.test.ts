import { expect, test } from "bun:test";
import { NotSentError } from "../../../kernel/http/not-sent.ts";
import { demand, NOON, plan, tryCall, window } from "../../../../tests/support/records/counter-parts.ts";
import { until } from "../../../../tests/support/until.ts";
import { ValkeyCounters } from "./valkey.ts";
import { ADMIT, AGE, SETTLE } from "./valkey-scripts.ts";

/** A store that is unreachable while `away` is set, and counts of what it was sent. */
function storeOf() {
  const store = { away: null as Error | null, asked: 0, polls: 0, settled: 0, atOnce: 0, most: 0 };
  const run = async (script: string) => {
    store.asked++;
    if (script === AGE) store.polls++;
    if (store.away !== null) throw store.away;
    if (script === AGE) return ["content", "1000", "server"];
    if (script === ADMIT) return ["window", "0", "100"];
    if (script !== SETTLE) return 1;
    store.settled++;
    store.most = Math.max(store.most, ++store.atOnce);
    await new Promise((resolve) => setImmediate(resolve));
    store.atOnce--;
    return [];
  };
  const log = { debug() {}, info() {}, warn() {}, error() {} } as never;
  const counters = new ValkeyCounters({ valkey: { run, close() {} }, now: () => NOON, log, settlesMs: 0 });
  const of = plan("t", { windows: [window("w", "micros", 100)] });
  return { store, counters, refused: () => tryCall(counters, of, demand(0, 1)).catch((error: unknown) => error) };
}

test("refused calls send nothing to an unreachable store; once it is back, settlements are sent a few at a time", async () => {
  const { store, counters, refused } = storeOf();
  store.away = new Error("it did not answer");
  await until(
    () => counters.isAway(),
    (away) => away,
  );
  for (let i = 0; i < 1_000; i++) expect(await refused()).toBe(store.away);
  const { polls, asked } = store;
  await until(
    () => store.polls,
    (seen) => seen >= polls + 3,
  );
  // It polls whether the store is reachable, however many settlements wait.
  expect(store.asked - asked).toBe(store.polls - polls);
  store.away = null;
  await until(
    () => store.settled,
    (settled) => settled === 1_000,
  );
  expect(store.most).toBeLessThanOrEqual(64);
  await counters.close();
});

test("an admission that was never sent is not settled", async () => {
  const { store, counters, refused } = storeOf();
  store.away = new NotSentError("away");
  for (let i = 0; i < 100; i++) await refused();
  store.away = new Error("it did not answer");
  await refused();
  store.away = null;
  await until(
    () => store.settled,
    (settled) => settled > 0,
  );
  await counters.close();
  expect(store.settled).toBe(1);
});
