import { describe, expect, test } from "bun:test";
import { costOfUsage } from "./cost.ts";

// $1.25 in, $10 out, $0.125 cached, $1.5625 cache write, each per million tokens.
const PRICES = { input: 1_250_000, output: 10_000_000, cacheRead: 125_000, cacheWrite: 1_562_500 };
const usage = (inputUncached: number, output: number, cacheRead = 0, cacheWrite = 0) => ({ inputUncached, output, cacheRead, cacheWrite, estimated: false });

describe("what a call costs", () => {
  test("worked by hand", () => {
    // 1,000 x 1.25 + 500 x 10 = 1,250 + 5,000 micro-dollars
    expect(costOfUsage(PRICES, usage(1_000, 500))).toEqual({ micros: 6_250, cacheSavings: null });
    // 200 x 1.25 + 100 x 10 + 800 x 0.125 + 400 x 1.5625 = 250 + 1,000 + 100 + 625; uncached the 1,200 would be 1,500, so 775 saved
    expect(costOfUsage(PRICES, usage(200, 100, 800, 400))).toEqual({ micros: 1_975, cacheSavings: 775 });
  });

  test("rounds once, half up, over the sum", () => {
    // 1 x 0.15 + 1 x 0.60 = 0.75 micro-dollars
    expect(costOfUsage({ input: 150_000, output: 600_000, cacheRead: null, cacheWrite: null }, usage(1, 1))?.micros).toBe(1);
    expect(costOfUsage({ input: 150_000, output: 600_000, cacheRead: null, cacheWrite: null }, usage(1, 0))?.micros).toBe(0);
  });

  test("an unpriced call is not a free one", () => {
    expect(costOfUsage({ input: null, output: null, cacheRead: null, cacheWrite: null }, usage(10, 10))).toBeNull();
    expect(costOfUsage({ input: 5, output: null, cacheRead: null, cacheWrite: null }, usage(10, 10))).toBeNull();
    expect(costOfUsage({ input: 0, output: 0, cacheRead: null, cacheWrite: null }, usage(10, 10))?.micros).toBe(0);
  });

  test("a cache price that is not set is the plain input price", () => {
    expect(costOfUsage({ ...PRICES, cacheRead: null, cacheWrite: null }, usage(0, 0, 800, 0))).toEqual({ micros: 1_000, cacheSavings: 0 });
  });
});
