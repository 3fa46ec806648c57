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

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));
const state = (promise: Promise<void>) => Promise.race([promise.then(() => "released"), Promise.resolve().then(() => Promise.resolve("waiting"))]);

test("a sync releases those who waited when it started, and only them", async () => {
  const { sync, rounds } = controlled();
  const together = [sync.synced(), sync.synced()];
  expect(rounds).toHaveLength(0);
  await nextTurn();
  expect(rounds).toHaveLength(1);
  const second = sync.synced();
  const third = sync.synced();
  rounds[0]?.resolve();
  await Promise.all(together);
  expect(await state(second)).toBe("waiting");
  await nextTurn();
  expect(rounds).toHaveLength(2);
  rounds[1]?.resolve();
  await Promise.all([second, third]);
  await nextTurn();
  expect(rounds).toHaveLength(2);
});

test("after a failed sync everyone is refused and none is tried again", async () => {
  const { sync, rounds } = controlled();
  const first = sync.synced();
  await nextTurn();
  const waiting = Promise.allSettled([first, sync.synced()]);
  rounds[0]?.reject(new Error("I/O error"));
  expect((await waiting).map((one) => one.status)).toEqual(["rejected", "rejected"]);
  await expect(sync.synced()).rejects.toThrow("I/O error");
  await nextTurn();
  expect(rounds).toHaveLength(1);
});
