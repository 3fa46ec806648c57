import { expect, test } from "bun:test";
import { groupSync } from "./group-sync.ts";

function controlled() {
  const rounds: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const sync = groupSync(
    () => {
      const round = Promise.withResolvers<void>();
      rounds.push(round);
      return round.promise;
    },
    () => 0,
  );
  return { sync, rounds };
}

const state = (promise: Promise<void>) => Promise.race([promise.then(() => "released"), Promise.resolve().then(() => Promise.resolve("waiting"))]);

test("a sync releases those who waited when it started, and only them", async () => {
  const { sync, rounds } = controlled();
  const first = sync.synced();
  const second = sync.synced();
  const third = sync.synced();
  expect(rounds).toHaveLength(1);
  rounds[0]?.resolve();
  await first;
  expect(await state(second)).toBe("waiting");
  expect(rounds).toHaveLength(2);
  rounds[1]?.resolve();
  await Promise.all([second, third]);
  expect(rounds).toHaveLength(2);
});

test("after a failed sync everyone is refused and none is tried again", async () => {
  const { sync, rounds } = controlled();
  const waiting = Promise.allSettled([sync.synced(), sync.synced()]);
  rounds[0]?.reject(new Error("I/O error"));
  expect((await waiting).map((one) => one.status)).toEqual(["rejected", "rejected"]);
  await expect(sync.synced()).rejects.toThrow("I/O error");
  expect(rounds).toHaveLength(1);
});
