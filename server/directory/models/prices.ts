import type { MicroUsd } from "../../kernel/money.ts";
import type { ColumnPrices, StoredImagePrice, StoredVideoPrice, TierPrices } from "../../store/tables/models.ts";
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
  /** For a million search units of reranking; null and absent: what it reads is billed as input. */
  readonly searchUnit?: MicroUsd | null;
  /** For a million pictures; null and absent are unpriced. */
  readonly image?: MicroUsd | null;
  /** For a million seconds of sound that are heard; null and absent are unpriced. */
  readonly audioSecond?: MicroUsd | null;
  /** For a million characters that are spoken; null and absent are unpriced. */
  readonly spokenCharacter?: MicroUsd | null;
  /** Of tokens reported as pictures or videos; null and absent: as other tokens. */
  readonly imageInput?: MicroUsd | null;
  readonly imageOutput?: MicroUsd | null;
  readonly imageCacheRead?: MicroUsd | null;
  readonly videoOutput?: MicroUsd | null;
  /** For a million seconds of video; null and absent are unpriced. */
  readonly videoSecond?: MicroUsd | null;
  /** Before `image` and `videoSecond`: the first that fits what was asked for. */
  readonly imagePrices?: readonly StoredImagePrice[];
  readonly videoPrices?: readonly StoredVideoPrice[];
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
  | "search_unit_cost"
  | "image_cost"
  | "audio_input_second_cost"
  | "audio_output_character_cost"
  | "video_second_cost"
  | "image_input_cost"
  | "image_output_cost"
  | "image_cache_read_cost"
  | "video_output_cost"
  | "image_prices"
  | "video_prices"
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
    searchUnit: row.search_unit_cost,
    image: row.image_cost,
    audioSecond: row.audio_input_second_cost,
    spokenCharacter: row.audio_output_character_cost,
    imageInput: row.image_input_cost,
    imageOutput: row.image_output_cost,
    imageCacheRead: row.image_cache_read_cost,
    videoOutput: row.video_output_cost,
    videoSecond: row.video_second_cost,
    imagePrices: row.image_prices,
    videoPrices: row.video_prices,
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
    // What is no token, and what tokens of one kind cost beside the others, stays whatever the tokens come to cost.
    const prices = changed({ ...plain, ...UNPRICED, audioInput: null, audioOutput: null }, change);
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
    ...base,
    input: columns.input_cost ?? base.input,
    output: columns.output_cost ?? base.output,
    cacheRead: columns.cache_read_cost ?? base.cacheRead,
    cacheWrite: columns.cache_write_cost ?? base.cacheWrite,
    cacheWriteHour: columns.cache_write_hour_cost ?? base.cacheWriteHour,
    audioInput: columns.audio_input_cost ?? base.audioInput ?? null,
    audioOutput: columns.audio_output_cost ?? base.audioOutput ?? null,
  };
}

/** For a million pictures that were asked for so; what was left unsaid the provider chose, perhaps the dearest. Null: unpriced. */
export function imagePriceOf({ imagePrices = [], image = null }: Prices, quality: string | null, size: string | null): MicroUsd | null {
  const fits = (asked: string | undefined, said: string | null, unsaid: boolean) =>
    asked === undefined || asked === said || (unsaid && said === null);
  const first = imagePrices.find((one) => fits(one.quality, quality, false) && fits(one.size, size, false));
  const any = imagePrices.filter((one) => fits(one.quality, quality, true) && fits(one.size, size, true));
  return first?.cost ?? image ?? dearestOf(any.map(({ cost }) => cost));
}

/** For a million seconds of video; `isResolution`: null where none was asked for. */
export function videoPriceOf(
  { videoPrices = [], videoSecond = null }: Prices,
  isResolution: ((token: string) => boolean) | null,
): MicroUsd | null {
  const first = videoPrices.find(({ resolution }) => resolution === undefined || isResolution?.(resolution) === true);
  return first?.second_cost ?? videoSecond ?? (isResolution === null ? dearestOf(videoPrices.map((one) => one.second_cost)) : null);
}

function dearestOf(prices: readonly MicroUsd[]): MicroUsd | null {
  return prices.length === 0 ? null : Math.max(...prices);
}
