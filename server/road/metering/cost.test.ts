import { describe, expect, test } from "bun:test";
import type { DatedPrices, Prices } from "../../directory/models/prices.ts";
import type { Usage } from "../../wire/usage.ts";
import { costAt, costOfUsage } from "./cost.ts";

const UNPRICED: Prices = { input: null, output: null, cacheRead: null, cacheWrite: null, cacheWriteHour: null };
const NOTHING: Usage = { inputUncached: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0, output: 0, reasoning: 0, estimated: false };
const usd = (dollars: number) => dollars * 1_000_000;
const always = (prices: Prices): DatedPrices[] => [{ from: Number.NEGATIVE_INFINITY, prices, tiers: [] }];

describe("the cost of a call, calculated by hand", () => {
  test("OpenAI, with cache reads and writes", () => {
    // gpt-6-sol: $2 in, $10 out, $0.20 read, $2.50 written
    const prices = { ...UNPRICED, input: usd(2), output: usd(10), cacheRead: usd(0.2), cacheWrite: usd(2.5) };
    // prompt_tokens 12,000 of which 8,000 cached and 1,500 written; completion_tokens 900 of which 600 reasoning
    const usage = { ...NOTHING, inputUncached: 2_500, cacheRead: 8_000, cacheWrite: 1_500, output: 900, reasoning: 600 };
    // 2,500 x 2 + 8,000 x 0.2 + 1,500 x 2.5 + 900 x 10 = 5,000 + 1,600 + 3,750 + 9,000
    // the 9,500 cached would have been 19,000 plain; they were 5,350
    expect(costOfUsage(prices, usage)).toEqual({ micros: 19_350, cacheSavings: 13_650 });
  });

  test("Anthropic, with cache writes for five minutes and for an hour", () => {
    // claude-sonnet-5: $2 in, $10 out, $0.20 read, $2.50 written for 5 minutes, $4 for an hour
    const prices: Prices = { input: usd(2), output: usd(10), cacheRead: usd(0.2), cacheWrite: usd(2.5), cacheWriteHour: usd(4) };
    const usage = { ...NOTHING, inputUncached: 120, cacheRead: 40_000, cacheWrite: 2_000, cacheWriteHour: 10_000, output: 700 };
    // 240 + 8,000 + 5,000 + 40,000 + 7,000; the 52,000 cached would have been 104,000 plain; they were 53,000
    const cost = { micros: 60_240, cacheSavings: 51_000 };
    expect(costOfUsage(prices, usage)).toEqual(cost);
    // Without a price of its own, an hour write costs twice the input price, as the vendor publishes.
    expect(costOfUsage({ ...prices, cacheWriteHour: null }, usage)).toEqual(cost);
    // A first call that only writes costs more than an uncached one: 10,000 x 4 against 10,000 x 2.
    expect(costOfUsage(prices, { ...NOTHING, cacheWriteHour: 10_000 })).toEqual({ micros: 40_000, cacheSavings: -20_000 });
  });

  test("Gemini, with higher prices above 200,000 input tokens and thinking billed as output", () => {
    // gemini-3.1-pro: $2 in, $12 out, $0.20 read; above 200,000: $4, $18, $0.40
    const schedule: DatedPrices[] = [
      {
        from: Number.NEGATIVE_INFINITY,
        prices: { ...UNPRICED, input: usd(2), output: usd(12), cacheRead: usd(0.2) },
        tiers: [{ aboveInputTokens: 200_000, prices: { ...UNPRICED, input: usd(4), output: usd(18), cacheRead: usd(0.4) } }],
      },
    ];
    // candidates 400 + thoughts 1,600 = 2,000 output. 200,000 exactly is not above: 100,000 x 2 + 100,000 x 0.2 + 2,000 x 12
    const atEdge = { ...NOTHING, inputUncached: 100_000, cacheRead: 100_000, output: 2_000, reasoning: 1_600 };
    expect(costAt(schedule, atEdge, 0)).toEqual({ micros: 244_000, cacheSavings: 180_000 });
    // One token more moves the whole call: 100,001 x 4 + 100,000 x 0.4 + 2,000 x 18
    expect(costAt(schedule, { ...atEdge, inputUncached: 100_001 }, 0)).toEqual({ micros: 476_004, cacheSavings: 360_000 });
  });

  test("Bedrock, Claude with cache reads and writes", () => {
    // claude-haiku-4-5 in a region: $1.10 in, $5.50 out, $0.11 read, $1.375 written
    const prices = { ...UNPRICED, input: usd(1.1), output: usd(5.5), cacheRead: usd(0.11), cacheWrite: usd(1.375) };
    // inputTokens 300, cacheReadInputTokens 20,000, cacheWriteInputTokens 4,000, outputTokens 250
    // 330 + 2,200 + 5,500 + 1,375; the 24,000 cached would have been 26,400 plain; they were 7,700
    expect(costOfUsage(prices, { ...NOTHING, inputUncached: 300, cacheRead: 20_000, cacheWrite: 4_000, output: 250 })).toEqual({
      micros: 9_405,
      cacheSavings: 18_700,
    });
  });

  test("audio tokens, at their own prices", () => {
    // gpt-audio: $2.50 in, $10 out, $32 an input and $64 an output token of audio
    const prices: Prices = { ...UNPRICED, input: usd(2.5), output: usd(10), audioInput: usd(32), audioOutput: usd(64) };
    // 1,000 in, 400 of them audio; 500 out, 300 of them audio: 600 x 2.5 + 400 x 32 + 200 x 10 + 300 x 64
    const usage: Usage = { ...NOTHING, inputUncached: 1_000, output: 500, audioInput: 400, audioOutput: 300 };
    expect(costOfUsage(prices, usage)?.micros).toBe(1_500 + 12_800 + 2_000 + 19_200);
    // Without an audio price, audio costs the same as other tokens.
    expect(costOfUsage({ ...UNPRICED, input: usd(2.5), output: usd(10) }, usage)?.micros).toBe(7_500);
  });

  test("token kinds that sum to more than the total make nothing cheaper", () => {
    const prices: Prices = {
      ...UNPRICED,
      input: usd(2),
      output: usd(10),
      imageInput: 0,
      audioInput: 0,
      imageOutput: usd(1),
      audioOutput: usd(1),
    };
    const usage: Usage = { ...NOTHING, inputUncached: 100, audioInput: 100, imageInput: 100, output: 50, audioOutput: 50, imageOutput: 50 };
    expect(costOfUsage(prices, usage)?.micros).toBe(100);
  });

  test("web searches, at a fee in addition to the tokens", () => {
    // $10 for a thousand: 10,000 micro-dollars each; 100 x 2 + 3 x 10,000
    const prices: Prices = { ...UNPRICED, input: usd(2), output: usd(10), webSearch: usd(10_000) };
    const usage: Usage = { ...NOTHING, inputUncached: 100, webSearches: 3 };
    expect(costOfUsage(prices, usage)?.micros).toBe(30_200);
    // A search without a price leaves the call unpriced; without searches no price is needed.
    expect(costOfUsage({ ...prices, webSearch: null }, usage)).toBeNull();
    expect(costOfUsage({ ...prices, webSearch: null }, { ...usage, webSearches: 0 })?.micros).toBe(200);
  });

  test("is rounded once, half up, after summing", () => {
    // 1 x 0.15 + 1 x 0.60 = 0.75 micro-dollars
    const prices = { ...UNPRICED, input: 150_000, output: 600_000 };
    expect(costOfUsage(prices, { ...NOTHING, inputUncached: 1, output: 1 })?.micros).toBe(1);
    expect(costOfUsage(prices, { ...NOTHING, inputUncached: 1 })?.micros).toBe(0);
  });
});

describe("unset prices", () => {
  test("make a call unpriced, not free", () => {
    const usage = { ...NOTHING, inputUncached: 10, output: 10 };
    expect(costOfUsage(UNPRICED, usage)).toBeNull();
    expect(costOfUsage({ ...UNPRICED, input: 5 }, usage)).toBeNull();
    expect(costOfUsage({ ...UNPRICED, output: 5 }, { ...NOTHING, cacheWriteHour: 1 })).toBeNull();
    expect(costOfUsage({ ...UNPRICED, input: 0, output: 0 }, usage)?.micros).toBe(0);
  });

  test("of the cache default to the input price", () => {
    const prices = { ...UNPRICED, input: usd(1.25), output: usd(10) };
    expect(costOfUsage(prices, { ...NOTHING, cacheRead: 800, cacheWrite: 200 })).toEqual({ micros: 1_250, cacheSavings: 0 });
  });
});

describe("dated prices", () => {
  const january = Date.parse("2027-01-01T00:00:00Z");
  const schedule: DatedPrices[] = [
    ...always({ ...UNPRICED, input: usd(1), output: usd(5) }),
    { from: january, prices: { ...UNPRICED, input: usd(1.5), output: usd(7.5) }, tiers: [] },
  ];
  const usage = { ...NOTHING, inputUncached: 1_000, output: 100 };

  test("apply from their date on, without recompilation", () => {
    expect(costAt(schedule, usage, january - 1)?.micros).toBe(1_500);
    expect(costAt(schedule, usage, january)?.micros).toBe(2_250);
  });
});
