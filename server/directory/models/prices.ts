import type { MicroUsd } from "../../kernel/money.ts";
import type { ColumnPrices, TierPrices } from "../../store/tables/models.ts";
import type { ModelRow } from "../../store/models.ts";

/** Micro-dollars per million tokens; null is unpriced. */
export interface Prices {
  readonly input: MicroUsd | null;
  readonly output: MicroUsd | null;
  readonly cacheRead: MicroUsd | null;
  /** Writes kept for five minutes, or for however long the vendor keeps all of them. */
  readonly cacheWrite: MicroUsd | null;
  /** Writes kept for an hour. */
  readonly cacheWriteHour: MicroUsd | null;
  /** Of tokens reported as audio; null and absent: as other tokens. */
  readonly audioInput?: MicroUsd | null;
  readonly audioOutput?: MicroUsd | null;
  /** For a million searches of the vendor's own web search; null and absent are unpriced. */
  readonly webSearch?: MicroUsd | null;
  /** For a million pictures; null and absent are unpriced. */
  readonly image?: MicroUsd | null;
  /** For a million seconds of sound that are heard; null and absent are unpriced. */
  readonly audioSecond?: MicroUsd | null;
  /** For a million characters that are spoken; null and absent are unpriced. */
  readonly spokenCharacter?: MicroUsd | null;
}

/** Prices of a whole call whose input is longer than `aboveInputTokens`. */
export interface CompiledPriceTier {
  readonly aboveInputTokens: number;
  readonly prices: Prices;
}

/** Prices in force from a moment until the next of the schedule. */
export interface DatedPrices {
  /** Milliseconds since the Unix epoch; -Infinity for the first. */
  readonly from: number;
  readonly prices: Prices;
  /** Lowest threshold first. */
  readonly tiers: readonly CompiledPriceTier[];
}

type PriceColumns = Pick<
  ModelRow,
  | "input_cost"
  | "output_cost"
  | "cache_read_cost"
  | "cache_write_cost"
  | "cache_write_hour_cost"
  | "audio_input_cost"
  | "audio_output_cost"
  | "web_search_cost"
  | "image_cost"
  | "audio_input_second_cost"
  | "audio_output_character_cost"
>;

/** The plain price columns of a row. */
export function pricesOfColumns(row: PriceColumns): Prices {
  return {
    input: row.input_cost,
    output: row.output_cost,
    cacheRead: row.cache_read_cost,
    cacheWrite: row.cache_write_cost,
    cacheWriteHour: row.cache_write_hour_cost,
    audioInput: row.audio_input_cost,
    audioOutput: row.audio_output_cost,
    webSearch: row.web_search_cost,
    image: row.image_cost,
    audioSecond: row.audio_input_second_cost,
    spokenCharacter: row.audio_output_character_cost,
  };
}

/** Of a write kept for an hour to plain input, where no price is set for it: the ratio Anthropic publishes for its models. */
export const HOUR_WRITE_RATIO = 2;

const UNPRICED: Prices = { input: null, output: null, cacheRead: null, cacheWrite: null, cacheWriteHour: null };

/**
 * What a model costs and from when on, oldest first. A date that passes needs no new compilation. `keepsHours`: the model
 * may write to its vendor's cache for an hour, which then has a price whether one is set or not.
 */
export function priceSchedule(row: PriceColumns & Pick<ModelRow, "price_tiers" | "price_changes">, keepsHours = false): DatedPrices[] {
  const schedule = scheduleOfColumns(row);
  if (!keepsHours) return schedule;
  return schedule.map(({ from, prices, tiers }) => ({
    from,
    prices: hourPriced(prices),
    tiers: tiers.map((tier) => ({ ...tier, prices: hourPriced(tier.prices) })),
  }));
}

function hourPriced(prices: Prices): Prices {
  return prices.cacheWriteHour !== null || prices.input === null ? prices : { ...prices, cacheWriteHour: prices.input * HOUR_WRITE_RATIO };
}

function scheduleOfColumns(row: PriceColumns & Pick<ModelRow, "price_tiers" | "price_changes">): DatedPrices[] {
  const plain = pricesOfColumns(row);
  const changes = row.price_changes.map((change) => {
    // What is no token costs the same whatever the tokens come to cost.
    const { webSearch = null, image = null, audioSecond = null, spokenCharacter = null } = plain;
    const prices = changed({ ...UNPRICED, webSearch, image, audioSecond, spokenCharacter }, change);
    return { from: Date.parse(change.effective_from), prices, tiers: tiersOver(prices, change.tiers) };
  });
  return [{ from: Number.NEGATIVE_INFINITY, prices: plain, tiers: tiersOver(plain, row.price_tiers) }, ...changes].sort(
    (a, b) => a.from - b.from,
  );
}

/** The prices in force at a moment. */
export function pricesAt(schedule: readonly DatedPrices[], millis: number): DatedPrices {
  let current = schedule[0];
  for (const dated of schedule) if (dated.from <= millis) current = dated;
  if (current === undefined) throw new Error("a price schedule is empty");
  return current;
}

/** Of a tier, a price that is left out is that of the tier below. */
function tiersOver(base: Prices, tiers: readonly TierPrices[]): CompiledPriceTier[] {
  let below = base;
  return tiers
    .toSorted((a, b) => a.above_input_tokens - b.above_input_tokens)
    .map((tier) => {
      below = changed(below, tier);
      return { aboveInputTokens: tier.above_input_tokens, prices: below };
    });
}

function changed(base: Prices, columns: ColumnPrices): Prices {
  return {
    input: columns.input_cost ?? base.input,
    output: columns.output_cost ?? base.output,
    cacheRead: columns.cache_read_cost ?? base.cacheRead,
    cacheWrite: columns.cache_write_cost ?? base.cacheWrite,
    cacheWriteHour: columns.cache_write_hour_cost ?? base.cacheWriteHour,
    audioInput: columns.audio_input_cost ?? base.audioInput ?? null,
    audioOutput: columns.audio_output_cost ?? base.audioOutput ?? null,
    webSearch: base.webSearch ?? null,
    image: base.image ?? null,
    audioSecond: base.audioSecond ?? null,
    spokenCharacter: base.spokenCharacter ?? null,
  };
}
