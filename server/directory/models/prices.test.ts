import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ModelRow } from "../../store/models/models.ts";
import { foldedChanges, priceColumns, priceMembers } from "./price-columns.ts";
import { priceSchedule, pricesAt, pricesServed } from "./prices.ts";

const BARE = {
  input_cost: null,
  output_cost: null,
  cache_read_cost: null,
  cache_write_cost: null,
  cache_write_hour_cost: null,
  audio_input_cost: null,
  audio_output_cost: null,
  web_search_cost: null,
  price_tiers: [],
  price_changes: [],
  service_tier_prices: [],
  image_cost: null,
  audio_input_second_cost: null,
  audio_output_character_cost: null,
  video_second_cost: null,
  image_input_cost: null,
  image_output_cost: null,
  image_cache_read_cost: null,
  video_output_cost: null,
  image_prices: [],
  tool_prices: [],
  video_prices: [],
} as unknown as ModelRow;

/** The row as the table returns it after these columns were written. */
function written(row: ModelRow, patch: ReturnType<typeof priceColumns>): ModelRow {
  const parsed = Object.fromEntries(
    Object.entries(patch).map(([column, value]) => [column, typeof value === "string" ? JSON.parse(value) : value]),
  );
  return { ...row, ...parsed } as ModelRow;
}

const price = fc.integer({ min: 0, max: 100_000_000_000 }).map((micros) => micros / 1e6);
const prices = fc.record(
  { input_cost_per_million_tokens: price, output_cost_per_million_tokens: price, cache_read_cost_per_million_tokens: price },
  { requiredKeys: [] },
);
const tiers = fc.uniqueArray(
  prices.chain((some) => fc.integer({ min: 1, max: 1e6 }).map((above) => ({ above_input_tokens: above, ...some }))),
  { selector: (tier) => tier.above_input_tokens, maxLength: 4 },
);
const day = fc.date({ min: new Date("2024-01-01"), max: new Date("2030-01-01"), noInvalidDate: true }).map((date) => date.toISOString());
const changes = fc.uniqueArray(
  fc
    .tuple(prices, day, tiers)
    .map(([some, from, dearer]) => ({ effective_from: from, ...some, ...(dearer.length === 0 ? {} : { price_tiers: dearer }) })),
  { selector: (change) => change.effective_from, maxLength: 4 },
);

describe("prices of a model", () => {
  test("are read back as they were written", () => {
    fc.assert(
      fc.property(prices, tiers, changes, (some, dearer, dated) => {
        const read = priceMembers(written(BARE, priceColumns({ ...some, price_tiers: dearer, price_changes: dated })));
        const sorted = (all: typeof dearer) => all.toSorted((a, b) => a.above_input_tokens - b.above_input_tokens);
        expect(read).toMatchObject({ ...some, price_tiers: sorted(dearer) });
        expect(read.price_changes).toEqual(
          dated.map((change) => ({ ...change, ...(change.price_tiers === undefined ? {} : { price_tiers: sorted(change.price_tiers) }) })),
        );
      }),
    );
  });

  test("at a given time are the same before and after past price changes are folded in", () => {
    fc.assert(
      fc.property(prices, tiers, changes, day, day, (some, dearer, dated, one, two) => {
        const [now, then] = [Date.parse(one), Date.parse(two)].sort((a, b) => a - b) as [number, number];
        const row = written(BARE, priceColumns({ ...some, price_tiers: dearer, price_changes: dated }));
        const folded = written(row, foldedChanges(row, new Date(now)));
        const inForce = (model: ModelRow) => {
          const { prices: plain, tiers: above } = pricesAt(priceSchedule(model), then);
          return { plain, above };
        };
        expect(inForce(folded)).toEqual(inForce(row));
        expect(folded.price_changes.every((change) => Date.parse(change.effective_from) > now)).toBe(true);
      }),
    );
  });

  test("include one-hour cache writes, at every date and in every tier, for a model that supports them", () => {
    const row = written(
      BARE,
      priceColumns({
        input_cost_per_million_tokens: 1,
        price_tiers: [{ above_input_tokens: 100, input_cost_per_million_tokens: 3 }],
        price_changes: [
          { effective_from: "2030-01-01T00:00:00Z", input_cost_per_million_tokens: 5, cache_write_hour_cost_per_million_tokens: 7 },
        ],
      }),
    );
    const hours = (schedule: ReturnType<typeof priceSchedule>) =>
      schedule.map(({ prices: plain, tiers: above }) =>
        [plain, ...above.map((tier) => tier.prices)].map(({ cacheWriteHour }) => cacheWriteHour),
      );
    expect(hours(priceSchedule(row, true))).toEqual([[2_000_000, 6_000_000], [7_000_000]]);
    expect(hours(priceSchedule(row))).toEqual([[null, null], [7_000_000]]);
  });

  test("missing in a tier are those of the tier below", () => {
    const row = written(
      BARE,
      priceColumns({
        input_cost_per_million_tokens: 1,
        output_cost_per_million_tokens: 5,
        price_tiers: [
          { above_input_tokens: 200, output_cost_per_million_tokens: 9 },
          { above_input_tokens: 100, input_cost_per_million_tokens: 2 },
        ],
      }),
    );
    const of = (input: number, output: number) => ({
      input: input * 1e6,
      output: output * 1e6,
      cacheRead: null,
      cacheWrite: null,
      cacheWriteHour: null,
      audioInput: null,
      audioOutput: null,
      webSearch: null,
      image: null,
      spokenCharacter: null,
      audioSecond: null,
      imageInput: null,
      imageOutput: null,
      imageCacheRead: null,
      imagePrices: [],
      videoOutput: null,
      videoSecond: null,
      videoPrices: [],
    });
    expect(pricesAt(priceSchedule(row), 0)).toEqual({
      from: Number.NEGATIVE_INFINITY,
      prices: of(1, 5),
      tiers: [
        { aboveInputTokens: 100, prices: of(2, 5) },
        { aboveInputTokens: 200, prices: of(2, 9) },
      ],
      serviceTiers: [],
    });
  });

  test("of a service tier are its own, else the standard prices times its own factor, else times the vendor's factor", () => {
    const row = written(
      BARE,
      priceColumns({
        input_cost_per_million_tokens: 2,
        output_cost_per_million_tokens: 10,
        cache_read_cost_per_million_tokens: 0.2,
        web_search_cost_per_thousand: 10,
        price_tiers: [{ above_input_tokens: 200, input_cost_per_million_tokens: 4 }],
        service_tier_prices: [
          { service_tier: "priority", input_cost_per_million_tokens: 3.5, output_cost_per_million_tokens: 18 },
          { service_tier: "flex", price_factor: 0.5, price_tiers: [{ above_input_tokens: 100, output_cost_per_million_tokens: 7 }] },
        ],
      }),
    );
    const [dated] = priceSchedule(row, false, { priority: 2.5, ultrafast: 6, inference_geo_us: 1.1 });
    const of = (...names: string[]) => {
      const { prices: plain, tiers: above } = pricesServed(dated!, names);
      return [plain, ...above.map((tier) => tier.prices)].map(({ input, output, cacheRead, webSearch }) => [
        ...[input, output, cacheRead].map((micros) => (micros ?? 0) / 1e6),
        webSearch,
      ]);
    };
    const search = 10e9;
    const standard = [
      [2, 10, 0.2, search],
      [4, 10, 0.2, search],
    ];
    expect(of()).toEqual(standard);
    expect(of("priority")).toEqual([
      [3.5, 18, 0.5, search],
      [10, 25, 0.5, search],
    ]);
    expect(of("flex")).toEqual([
      [1, 5, 0.1, search],
      [1, 7, 0.1, search],
    ]);
    expect(of("ultrafast")[0]).toEqual([12, 60, 1.2, search]);
    expect(of("priority", "inference_geo_us")[0]).toEqual([3.85, 19.8, 0.55, search]);
    expect(of("gold")).toEqual(standard);
  });

  test("of one-hour cache writes are twice the input price of the same service tier", () => {
    const service_tier_prices = [{ service_tier: "fast", input_cost_per_million_tokens: 30, output_cost_per_million_tokens: 150 }];
    const row = written(BARE, priceColumns({ input_cost_per_million_tokens: 5, output_cost_per_million_tokens: 25, service_tier_prices }));
    const [dated] = priceSchedule(row, true, { fast: 2, inference_geo_us: 1.1 });
    const hour = (...names: string[]) => (pricesServed(dated!, names).prices.cacheWriteHour ?? 0) / 1e6;
    expect([hour(), hour("fast"), hour("inference_geo_us"), hour("fast", "inference_geo_us")]).toEqual([10, 60, 11, 66]);
  });

  test("of service tiers are read back as written, and those with a factor follow a change of the standard prices", () => {
    const flex = { service_tier: "flex", price_factor: 0.5, is_default: true as const };
    const service_tier_prices = [
      flex,
      {
        service_tier: "priority",
        input_cost_per_million_tokens: 4,
        price_tiers: [{ above_input_tokens: 9, output_cost_per_million_tokens: 1 }],
      },
    ];
    const changed = (own?: typeof service_tier_prices) =>
      written(
        BARE,
        priceColumns({
          input_cost_per_million_tokens: 2,
          service_tier_prices,
          price_changes: [
            { effective_from: "2027-01-01T00:00:00Z", input_cost_per_million_tokens: 3, ...(own && { service_tier_prices: own }) },
          ],
        }),
      );
    expect(priceMembers(changed())).toMatchObject({ service_tier_prices });
    expect(priceMembers(changed(service_tier_prices)).price_changes).toMatchObject([{ service_tier_prices }]);
    const after = new Date("2027-02-01T00:00:00Z");
    for (const row of [changed(), written(changed(), foldedChanges(changed(), after))]) {
      const { serviceTiers = [] } = pricesAt(priceSchedule(row), after.getTime());
      expect(serviceTiers.map(({ name, prices: { input } }) => [name, input])).toEqual([["flex", 1_500_000]]);
    }
    expect(priceMembers(written(changed(), foldedChanges(changed(), after))).service_tier_prices).toEqual([flex]);
  });

  test("of the account's default service tier fall back to its factor when a change leaves them out, and it stays the default", () => {
    const row = written(
      BARE,
      priceColumns({
        input_cost_per_million_tokens: 2,
        service_tier_prices: [{ service_tier: "priority", is_default: true, input_cost_per_million_tokens: 9 }],
        price_changes: [{ effective_from: "2027-01-01T00:00:00Z", input_cost_per_million_tokens: 3 }],
      }),
    );
    const after = new Date("2027-02-01T00:00:00Z");
    for (const each of [row, written(row, foldedChanges(row, after))]) {
      const { serviceTiers = [] } = pricesAt(priceSchedule(each, false, { priority: 2 }), after.getTime());
      expect(serviceTiers).toMatchObject([{ name: "priority", isDefault: true, prices: { input: 6_000_000 } }]);
    }
    expect(priceMembers(written(row, foldedChanges(row, after))).service_tier_prices).toEqual([
      { service_tier: "priority", is_default: true },
    ]);
  });
});
