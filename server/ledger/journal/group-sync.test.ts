import { expect, test } from "bun:test";
import { groupSync } from "./group-sync.ts";

function controlled() {
  const rounds: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const immediate = { times: 0, tookMs: 0, fails: false };
  let at = 0;
  const sync = groupSync(
    () => {
      const round = Promise.withResolvers<void>();
      rounds.push(round);
      return round.promise;
    },
    () => {
      if (immediate.fails) throw new Error("I/O error");
      immediate.times++;
      at += immediate.tookMs;
    },
    () => at,
  );
  return { sync, rounds, immediate };
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));
const state = (promise: Promise<void>) =>
  Promise.race([promise.then(() => "released"), Promise.resolve().then(() => Promise.resolve("waiting"))]);

test("a sync releases only those who were waiting when it started", async () => {
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

test("after a failed sync everyone is refused, and no further sync is tried", async () => {
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

/** The first sync, which measures how fast the disk is. */
async function quickDisk({ sync, rounds }: ReturnType<typeof controlled>): Promise<void> {
  const one = sync.synced(true);
  await nextTurn();
  rounds[0]?.resolve();
  await one;
}

test("a lone caller syncs immediately, once the disk is known to be fast and while it is", async () => {
  const disk = controlled();
  const { sync, rounds, immediate } = disk;
  await quickDisk(disk);
  expect(immediate.times).toBe(0);
  immediate.tookMs = 0.3;
  await sync.synced(true);
  await sync.synced(true);
  expect(immediate.times).toBe(2);
  immediate.tookMs = 5;
  await sync.synced(true);
  const after = sync.synced(true);
  await nextTurn();
  expect([immediate.times, rounds.length]).toEqual([3, 2]);
  rounds[1]?.resolve();
  await after;
  expect(sync.syncs).toBe(5);
});

test("a caller that is not alone or finds others waiting joins their sync", async () => {
  const disk = controlled();
  const { sync, rounds, immediate } = disk;
  await quickDisk(disk);
  const together = [sync.synced(false), sync.synced(true)];
  await nextTurn();
  const later = sync.synced(true);
  rounds[1]?.resolve();
  await Promise.all(together);
  await nextTurn();
  rounds[2]?.resolve();
  await later;
  expect([immediate.times, rounds.length]).toEqual([0, 3]);
});

test("after a failed immediate sync no further one is tried", async () => {
  const disk = controlled();
  await quickDisk(disk);
  disk.immediate.fails = true;
  await expect(disk.sync.synced(true)).rejects.toThrow("I/O error");
  disk.immediate.fails = false;
  await expect(disk.sync.synced(true)).rejects.toThrow("I/O error");
  expect(disk.immediate.times).toBe(0);
});
