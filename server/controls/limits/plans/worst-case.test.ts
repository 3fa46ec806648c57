import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ModelEntry } from "../../../directory/snapshot.ts";
import type { RoutingGroupEntry } from "../../../directory/models/routing-group-entry.ts";
import { EMPTY_VIEW } from "../../../road/request/empty-view.ts";
import { routingGroupPlaceholder } from "../../access/routing-group-placeholder.ts";
import { affordableOutput, highestCost, demandOf, worstCaseWithoutOutput, worstCaseOf } from "./worst-case.ts";

const prices = (input: number | null, output: number | null, cacheWrite: number | null = null) => ({
  input,
  output,
  cacheRead: null,
  cacheWrite,
  cacheWriteHour: null,
});
const model = (more: object = {}): ModelEntry =>
  ({
    contextWindow: null,
    maxOutputTokens: null,
    defaultMaxTokens: null,
    systemPrompt: null,
    provider: { apiFormat: "openai" },
    priceSchedule: [{ from: Number.NEGATIVE_INFINITY, prices: prices(1_000_000, 10_000_000), tiers: [] }],
    ...more,
  }) as unknown as ModelEntry;
const NOW = Date.UTC(2026, 10, 21);
const bounds = { at: NOW, bodyBytes: 1_000, addedBytes: 100, outputCeiling: null };
const of = (inputTokens: number, outputTokens: number) => ({ at: NOW, inputTokens, inputBytes: inputTokens, outputTokens, searches: 0 });
const view = (more: object = {}) => ({ ...EMPTY_VIEW, ...more });

describe("the worst case of a call", () => {
  test("takes the lowest bound on the output, for each requested answer", () => {
    expect(worstCaseOf(model(), view({ maxTokens: 50 }), bounds)).toEqual({
      at: NOW,
      inputTokens: 1_100,
      inputBytes: 1_100,
      outputTokens: 50,
      searches: 0,
      outputIsOurs: false,
      outputMustBeSet: false,
    });
    expect(worstCaseOf(model({ maxOutputTokens: 30 }), view({ maxTokens: 50, candidates: 3 }), bounds).outputTokens).toBe(90);
    expect(worstCaseOf(model({ maxOutputTokens: 30 }), view(), { ...bounds, outputCeiling: 20 }).outputTokens).toBe(20);
    expect(worstCaseOf(model({ defaultMaxTokens: 10 }), view(), bounds)).toMatchObject({
      outputTokens: 10,
      outputIsOurs: true,
      outputMustBeSet: false,
    });
    expect(worstCaseOf(model(), view(), bounds)).toMatchObject({ outputTokens: 4_096, outputIsOurs: true, outputMustBeSet: true });
    expect(worstCaseOf(model({ contextWindow: 500 }), view(), bounds).inputTokens).toBe(500);
  });

  test("counts each of several prompts with its instructions, up to the context window", () => {
    const prompts = view({ prompts: 3 });
    expect(worstCaseOf(model(), prompts, bounds).inputTokens).toBe(1_300);
    expect(worstCaseOf(model({ contextWindow: 400 }), prompts, bounds).inputTokens).toBe(1_200);
  });

  test("takes the highest price of any tier and of any way the input could be billed", () => {
    const tiered = model({
      priceSchedule: [
        {
          from: Number.NEGATIVE_INFINITY,
          prices: prices(1_000_000, 2_000_000, 1_250_000),
          tiers: [{ prices: prices(2_000_000, 4_000_000) }],
        },
      ],
    });
    expect(highestCost(tiered, of(1_000, 100))).toBe(2_400);
    expect(
      highestCost(
        model({ priceSchedule: [{ from: Number.NEGATIVE_INFINITY, prices: prices(1_000_000, 0, 1_250_000), tiers: [] }] }),
        of(1_000, 100),
      ),
    ).toBe(1_250);
  });

  test("takes the prices in force when the call arrived", () => {
    const dated = (from: number, input: number, output: number | null) => ({ from, prices: prices(input, output), tiers: [] });
    const changing = model({
      priceSchedule: [
        dated(Number.NEGATIVE_INFINITY, 90_000_000, null),
        dated(NOW, 1_000_000, 2_000_000),
        dated(NOW + 1, 70_000_000, null),
      ],
    });
    expect(highestCost(changing, of(1_000, 100))).toBe(1_200);
    expect(affordableOutput(changing, worstCaseOf(changing, view(), { ...bounds, bodyBytes: 0, addedBytes: 0 }), "micros", 201)).toBe(100);
    expect(highestCost(changing, { ...of(1_000, 100), at: NOW - 1 })).toBeNull();
    const group = routingGroupPlaceholder(
      { modelId: "g" } as unknown as RoutingGroupEntry,
      [model(), changing].map((one) => ({ model: one, weight: 1 })),
      NOW,
    );
    expect(highestCost(group, of(1_000, 100))).toBe(2_000);
  });

  test("includes the fee of each web search, as many as the request allows", () => {
    const searching = model({
      priceSchedule: [
        { from: Number.NEGATIVE_INFINITY, prices: { ...prices(1_000_000, 10_000_000), webSearch: 10_000_000_000 }, tiers: [] },
      ],
    });
    const worst = worstCaseOf(searching, view({ maxTokens: 50, webSearches: 3 }), bounds);
    expect(demandOf(searching, worst, 50).micros).toBe(1_100 + 500 + 30_000);
    expect(worstCaseOf(searching, view({ webSearches: null }), bounds).searches).toBe(1);
    expect(affordableOutput(searching, worst, "micros", 31_000)).toBeNull();
    expect(highestCost(model(), { ...of(10, 10), searches: 1 })).toBeNull();
  });

  test("is unknown without a price, except for output that is not used", () => {
    const embeds = model({ priceSchedule: [{ from: Number.NEGATIVE_INFINITY, prices: prices(1_000_000, null), tiers: [] }] });
    expect(highestCost(embeds, of(10, 1))).toBeNull();
    const worst = worstCaseWithoutOutput(worstCaseOf(embeds, view(), bounds));
    expect(demandOf(embeds, worst, worst.outputTokens)).toEqual({ tokens: 1_100, micros: 1_100, toolCalls: 0 });
  });

  test("with a shortened answer costs no more than what is left", () => {
    fc.assert(
      fc.property(fc.nat(5_000_000), fc.nat(50_000_000), fc.nat(5_000), fc.nat(100_000), (input, output, bytes, left) => {
        const priced = model({ priceSchedule: [{ from: Number.NEGATIVE_INFINITY, prices: prices(input, output), tiers: [] }] });
        const worst = worstCaseOf(priced, view(), { ...bounds, bodyBytes: bytes });
        const shorter = affordableOutput(priced, worst, "micros", left);
        if (shorter === null) return;
        expect(shorter).toBeLessThanOrEqual(worst.outputTokens);
        expect(demandOf(priced, worst, shorter).micros).toBeLessThanOrEqual(left);
      }),
      { numRuns: 2_000 },
    );
  });

  test("takes the price of the account's default region unless the request names a region, and of its default tier unless it names a tier", () => {
    const costWith = (name: string, serving: { tier: string | null; geo: string | null }) => {
      const isDefault = { name, factor: 3, isDefault: true, prices: prices(3_000_000, 30_000_000), tiers: [] };
      const fast = { name: "fast", factor: 2, prices: prices(2_000_000, 20_000_000), tiers: [] };
      const schedule = [{ from: 0, prices: prices(1_000_000, 10_000_000), tiers: [], serviceTiers: [isDefault, fast] }];
      return highestCost({ priceSchedule: schedule } as never, { ...of(1_000_000, 0), serving });
    };
    const servings = [
      { tier: null, geo: null },
      { tier: "fast", geo: null },
      { tier: null, geo: "eu" },
      { tier: "fast", geo: "eu" },
    ];
    expect(servings.map((serving) => costWith("inference_geo_us", serving))).toEqual([3_000_000, 6_000_000, 1_000_000, 2_000_000]);
    expect(servings.map((serving) => costWith("priority", serving))).toEqual([3_000_000, 2_000_000, 3_000_000, 2_000_000]);
  });
});
