import { describe, expect, test } from "bun:test";
import type { ModelEntry } from "../../directory/snapshot.ts";
import type { Prices } from "../../directory/models/prices.ts";
import type { Usage } from "../../wire/usage.ts";
import type { Attempt, Call } from "../call.ts";
import { settle } from "./settle.ts";

const PRICES: Prices = { input: 2_000_000, output: 10_000_000, cacheRead: 200_000, cacheWrite: 2_500_000, cacheWriteHour: null };
const CHANGED = Date.parse("2026-12-01T00:00:00Z");
const USAGE: Usage = {
  inputUncached: 1_000,
  cacheRead: 500_000,
  cacheWrite: 20_000,
  cacheWriteHour: 30_000,
  output: 2_000,
  reasoning: 1_500,
  estimated: false,
};

function settled(
  model: Partial<ModelEntry> | null,
  usage: Usage,
  timestamp = "2026-11-21T12:00:00.123456Z",
  attempts: Partial<Attempt>[] = [],
) {
  const call = { row: { timestamp }, target: model === null ? { kind: "none" } : { kind: "model", model }, attempts } as unknown as Call;
  settle(call, usage);
  return call.row;
}

const priced = {
  priceSchedule: [
    { from: Number.NEGATIVE_INFINITY, prices: PRICES, tiers: [] },
    { from: CHANGED, prices: { ...PRICES, output: 20_000_000 }, tiers: [] },
  ],
};

describe("the usage in a call's row", () => {
  test("has the cache tokens and the savings, to the micro-dollar", () => {
    // 1,000 x 2 + 500,000 x 0.2 + 20,000 x 2.5 + 30,000 x 4 + 2,000 x 10 = 2,000 + 100,000 + 50,000 + 120,000 + 20,000
    // 550,000 plain would have been 1,100,000; they were 270,000
    expect(settled(priced, USAGE)).toMatchObject({
      llm_prompt_tokens: 551_000,
      llm_completion_tokens: 2_000,
      llm_total_tokens: 553_000,
      prompt_cache_read_tokens: 500_000,
      prompt_cache_write_tokens: 50_000,
      prompt_cache_savings_usd: 0.83,
      llm_estimated_cost_usd: 0.292,
    });
  });

  test("is priced at the prices in force when the call arrived", () => {
    expect(settled(priced, USAGE, "2026-11-30T23:59:59.999999Z").llm_estimated_cost_usd).toBe(0.292);
    expect(settled(priced, USAGE, "2026-12-01T00:00:00.000000Z").llm_estimated_cost_usd).toBe(0.312);
  });

  test("omits fields for what did not happen or has no price", () => {
    const plain = { ...USAGE, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 };
    const row = settled(priced, plain);
    expect([row.prompt_cache_read_tokens, row.prompt_cache_write_tokens, row.prompt_cache_savings_usd]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    const unpriced = settled({ priceSchedule: [{ from: Number.NEGATIVE_INFINITY, prices: { ...PRICES, input: null }, tiers: [] }] }, USAGE);
    expect([unpriced.llm_estimated_cost_usd, unpriced.prompt_cache_savings_usd, unpriced.llm_prompt_tokens]).toEqual([
      undefined,
      undefined,
      551_000,
    ]);
  });

  test("has no token counts if only other units were counted, and counts of zero if nothing else was", () => {
    const none = { ...USAGE, inputUncached: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0, output: 0, reasoning: 0 };
    const counts = (usage: Usage, attempts: Partial<Attempt>[] = []) => {
      const row = settled(priced, usage, undefined, attempts);
      return [row.llm_prompt_tokens, row.llm_completion_tokens, row.llm_total_tokens];
    };
    for (const unit of [{ images: 1 }, { spokenCharacters: 5 }, { audioSeconds: 1 }, { videoSeconds: 4 }, { searchUnits: 1 }])
      expect(counts({ ...none, ...unit })).toEqual([undefined, undefined, undefined]);
    expect(counts({ ...none, images: 1, output: 1_000 })).toEqual([0, 1_000, 1_000]);
    expect(counts(none)).toEqual([0, 0, 0]);
    expect(counts({ ...none, images: 1 }, [{ usage: { ...none, inputUncached: 20 }, costMicros: 40 }])).toEqual([20, 0, 20]);
  });

  test("includes failed attempts, and is unpriced if one of them is", () => {
    const failed = { usage: { ...USAGE, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 }, costMicros: 8_000 };
    expect(settled(priced, USAGE, undefined, [failed])).toMatchObject({
      llm_prompt_tokens: 552_000,
      llm_completion_tokens: 4_000,
      llm_estimated_cost_usd: 0.3,
    });
    expect(settled(priced, USAGE, undefined, [{ ...failed, costMicros: null }]).llm_estimated_cost_usd).toBeUndefined();
  });

  test("is tagged if it is an estimate", () => {
    expect(settled(priced, { ...USAGE, estimated: true }).tags).toEqual(["usage_estimated"]);
    expect(settled(priced, USAGE).tags).toBeUndefined();
  });
});
