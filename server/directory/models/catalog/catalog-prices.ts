import type { PriceChange, PriceTier } from "@gatehouse/contracts/models";
import type { ModelInfo, ModelPrice, TieredPrices } from "@pydantic/genai-prices";

/** Converts the price catalog's prices to the form of the admin API: US dollars per million tokens. */

export interface CatalogPrices {
  readonly input_cost_per_million_tokens: number | null;
  readonly output_cost_per_million_tokens: number | null;
  readonly cache_read_cost_per_million_tokens: number | null;
  readonly cache_write_cost_per_million_tokens: number | null;
  readonly cache_write_hour_cost_per_million_tokens: number | null;
  readonly audio_input_cost_per_million_tokens: number | null;
  readonly audio_output_cost_per_million_tokens: number | null;
  readonly web_search_cost_per_thousand: number | null;
  readonly price_tiers: PriceTier[];
  readonly price_changes: PriceChange[];
  readonly audio_input_cost_per_second: number | null;
  readonly image_input_cost_per_million_tokens: number | null;
  readonly image_output_cost_per_million_tokens: number | null;
  readonly image_cache_read_cost_per_million_tokens: number | null;
  readonly video_output_cost_per_million_tokens: number | null;
}

const KEYS = [
  ["input_mtok", "input_cost_per_million_tokens"],
  ["output_mtok", "output_cost_per_million_tokens"],
  ["cache_read_mtok", "cache_read_cost_per_million_tokens"],
  ["cache_write_mtok", "cache_write_cost_per_million_tokens"],
  ["cache_write_1h_mtok", "cache_write_hour_cost_per_million_tokens"],
  ["input_audio_mtok", "audio_input_cost_per_million_tokens"],
  ["output_audio_mtok", "audio_output_cost_per_million_tokens"],
] as const;

// Fees that token prices cannot express. Leaving them out would give a wrong cost, so such models stay unpriced.
const BEYOND_TOKENS = /^(requests|input_text_messages)_kcount$|^output_(reasoning|citation)_mtok$/;
// Prices for tokens of one kind, in addition to the general ones.
const KINDS = [
  ["input_image_mtok", "image_input_cost_per_million_tokens"],
  ["output_image_mtok", "image_output_cost_per_million_tokens"],
  ["cache_image_read_mtok", "image_cache_read_cost_per_million_tokens"],
  ["output_video_mtok", "video_output_cost_per_million_tokens"],
] as const;
// Media models price tokens of these kinds separately, but reported usage does not distinguish them.
const BY_KIND = /^(input_video|cache_audio_read|cache_video_read)_mtok$/;

type Kinds = Partial<Record<(typeof KINDS)[number][1], number>>;

function kindsOf(prices: ModelPrice): Kinds {
  const kinds: Kinds = {};
  for (const [key, member] of KINDS) {
    const price = prices[key];
    if (price !== undefined) kinds[member] = wholeMicros(typeof price === "number" ? price : price.base);
  }
  return kinds;
}

type Plain = Partial<Record<(typeof KEYS)[number][1], number>>;

/** A model's prices at `now`, with known later changes. `media`: the model is not text-only. */
export function catalogPrices(info: ModelInfo, media: boolean, now: Date): CatalogPrices {
  const all = Array.isArray(info.prices) ? info.prices : [{ prices: info.prices }];
  // Prices that vary by time of day cannot be expressed as one price.
  if (all.some(({ constraint, prices }) => constraint?.type === "time_of_date" || unpriceable(prices, media)))
    return shape({}, [], [], null, null, {});
  const [first = { prices: {} }, ...rest] = all;
  const dated = rest
    .flatMap(({ constraint, prices }) =>
      constraint?.type === "start_date" ? [{ from: new Date(`${constraint.start_date}T00:00:00.000Z`), prices }] : [],
    )
    .sort((a, b) => a.from.getTime() - b.from.getTime());
  const current = dated.findLast(({ from }) => from <= now)?.prices ?? first.prices;
  const changes = dated
    .filter(({ from }) => from > now)
    .map(({ from, prices }) => {
      const tiers = tiersOf(prices);
      return { effective_from: from.toISOString(), ...basesOf(prices), ...(tiers.length === 0 ? {} : { price_tiers: tiers }) };
    });
  const hour = current.input_audio_hours ?? current.audio_hours;
  const searches = current.web_searches_kcount;
  return shape(
    basesOf(current),
    tiersOf(current),
    changes,
    typeof hour === "number" ? Math.round((hour / 3600) * 1e12) / 1e12 : null,
    typeof searches === "number" ? searches : null,
    kindsOf(current),
  );
}

function unpriceable(prices: ModelPrice, media: boolean): boolean {
  return Object.keys(prices).some((key) => BEYOND_TOKENS.test(key) || (media && BY_KIND.test(key)));
}

function shape(
  plain: Plain,
  tiers: PriceTier[],
  changes: PriceChange[],
  audioSecond: number | null,
  thousandSearches: number | null,
  kinds: Kinds,
): CatalogPrices {
  return {
    image_input_cost_per_million_tokens: kinds.image_input_cost_per_million_tokens ?? null,
    image_output_cost_per_million_tokens: kinds.image_output_cost_per_million_tokens ?? null,
    image_cache_read_cost_per_million_tokens: kinds.image_cache_read_cost_per_million_tokens ?? null,
    video_output_cost_per_million_tokens: kinds.video_output_cost_per_million_tokens ?? null,
    input_cost_per_million_tokens: plain.input_cost_per_million_tokens ?? null,
    output_cost_per_million_tokens: plain.output_cost_per_million_tokens ?? null,
    cache_read_cost_per_million_tokens: plain.cache_read_cost_per_million_tokens ?? null,
    cache_write_cost_per_million_tokens: plain.cache_write_cost_per_million_tokens ?? null,
    cache_write_hour_cost_per_million_tokens: plain.cache_write_hour_cost_per_million_tokens ?? null,
    audio_input_cost_per_million_tokens: plain.audio_input_cost_per_million_tokens ?? null,
    audio_output_cost_per_million_tokens: plain.audio_output_cost_per_million_tokens ?? null,
    web_search_cost_per_thousand: thousandSearches,
    price_tiers: tiers,
    price_changes: changes,
    audio_input_cost_per_second: audioSecond,
  };
}

function basesOf(prices: ModelPrice): Plain {
  const plain: Plain = {};
  for (const [key, member] of KEYS) {
    const price = prices[key];
    if (price !== undefined) plain[member] = wholeMicros(typeof price === "number" ? price : price.base);
  }
  // The catalog has no price for the text output of image and video models; it costs no more than their images or videos.
  const made = prices.output_image_mtok ?? prices.output_video_mtok;
  if (plain.output_cost_per_million_tokens === undefined && made !== undefined)
    plain.output_cost_per_million_tokens = wholeMicros(typeof made === "number" ? made : made.base);
  return plain;
}

function tiersOf(prices: ModelPrice): PriceTier[] {
  const tiers = new Map<number, PriceTier>();
  for (const [key, member] of KEYS) {
    const price = prices[key];
    if (price === undefined || typeof price === "number") continue;
    for (const { start, price: dearer } of (price satisfies TieredPrices).tiers) {
      const tier = tiers.get(start) ?? { above_input_tokens: start };
      tier[member] = wholeMicros(dearer);
      tiers.set(start, tier);
    }
  }
  return [...tiers.values()].sort((a, b) => a.above_input_tokens - b.above_input_tokens);
}

/** Rounds to what the table can store, so that an entry shows exactly what its import will cost. */
function wholeMicros(usd: number): number {
  return Math.round(usd * 1_000_000) / 1_000_000;
}
