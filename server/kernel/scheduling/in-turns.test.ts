import { expect, test } from "bun:test";
import { runToEnd, type InTurns, inTurns } from "./in-turns.ts";

const free = { took: () => undefined };

/** Work of `many` steps of a millisecond each. */
function* steps(many: number, done: () => void = () => undefined): InTurns<number> {
  for (let step = 0; step < many; step++) {
    const until = performance.now() + 1;
    while (performance.now() < until);
    done();
    yield;
  }
  return many;
}

test("work that ends within its first slice, or is run to the end, returns synchronously", () => {
  expect(inTurns(steps(1), free)).toBe(1);
  expect(inTurns(steps(0), free)).toBe(0);
  expect(runToEnd(steps(30))).toBe(30);
});

test("longer work runs in slices, one slice per event loop turn for all work together", async () => {
  let sinceTurn = 0;
  let most = 0;
  const count = () => {
    most = Math.max(most, ++sinceTurn);
  };
  const all = Array.from({ length: 20 }, () => inTurns(steps(20, count), free));
  sinceTurn = 0;
  most = 0;
  let over = false;
  void Promise.all(all).then(() => (over = true));
  let turns = 0;
  while (!over) {
    await new Promise((resolve) => setImmediate(resolve));
    sinceTurn = 0;
    turns++;
  }
  expect(await Promise.all(all)).toEqual(Array.from({ length: 20 }, () => 20));
  expect(turns).toBeGreaterThan(50);
  expect(most).toBeLessThanOrEqual(10);
});

test("the time taken is metered, and an exception reaches the waiting caller", async () => {
  let took = 0;
  const meter = { took: (ms: number) => void (took += ms) };
  await inTurns(steps(30), meter);
  expect(took).toBeGreaterThan(15);
  const failing = (function* (): InTurns<void> {
    yield* steps(10);
    throw new Error("no further");
  })();
  await expect(Promise.resolve(inTurns(failing, free))).rejects.toThrow("no further");
});
