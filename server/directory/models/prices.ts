import type { VendorToolName } from "@gatehouse/contracts/models";
import type { MicroUsd } from "../../kernel/money.ts";
import type {
  ColumnPrices,
  ServiceTierPrices,
  StoredImagePrice,
  StoredPriceChange,
  StoredVideoPrice,
  TierPrices,
} from "../../store/tables/models.ts";
import type { ModelRow } from "../../store/models/models.ts";

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
  /** For a million uses of other tools of the vendor's; of those that are left out as `toolPriceOf` has it. */
  readonly tools?: Readonly<Partial<Record<VendorToolName, MicroUsd>>>;
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

/** Prices of calls that are served in a tier of their vendor's. */
export interface CompiledServiceTier {
  readonly name: string;
  /** Of its prices to the usual ones, where none is set. */
  readonly factor: number;
  readonly prices: Prices;
  readonly tiers: readonly CompiledPriceTier[];
}

/** Prices in force from a moment until the next of the schedule. */
export interface DatedPrices {
  /** Milliseconds since the Unix epoch; -Infinity for the first. */
  readonly from: number;
  readonly prices: Prices;
  /** Lowest threshold first. */
  readonly tiers: readonly CompiledPriceTier[];
  /** Those that have other prices than the usual ones; none when left out. */
  readonly serviceTiers?: readonly CompiledServiceTier[];
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
  | "tool_prices"
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
    ...(row.tool_prices.length > 0 && { tools: Object.fromEntries(row.tool_prices.map(({ tool, cost }) => [tool, cost])) }),
  };
}

/** Of a write kept for an hour to plain input, where no price is set for it: the ratio Anthropic publishes for its models. */
export const HOUR_WRITE_RATIO = 2;

const UNPRICED: Prices = { input: null, output: null, cacheRead: null, cacheWrite: null, cacheWriteHour: null };

type PricedRow = PriceColumns & Pick<ModelRow, "price_tiers" | "price_changes" | "service_tier_prices">;

/**
 * What a model costs and from when on, oldest first. A date that passes needs no new compilation. `keepsHours`: the model
 * may write to its vendor's cache for an hour, which then has a price whether one is set or not. `usualFactors`: of its vendor's
 * service tiers that have no price of the model's own.
 */
export function priceSchedule(row: PricedRow, keepsHours = false, usualFactors: Readonly<Record<string, number>> = {}): DatedPrices[] {
  return scheduleOfColumns(row).map(({ from, prices, tiers, serviceTiers }) => {
    const plain = { prices, tiers };
    const priced = <T extends Priced>(of: T): T => (keepsHours ? { ...of, ...hourPriced(of) } : of);
    const named = new Map(serviceTiers.map((one) => [one.service_tier, one]));
    for (const name of Object.keys(usualFactors)) if (!named.has(name)) named.set(name, { service_tier: name, tiers: [] });
    // Its hours follow its own price of input.
    const inTiers = [...named.values()].map((one) => priced(serviceTierOver(plain, one, usualFactors)));
    return { from, ...priced(plain), serviceTiers: inTiers };
  });
}

/** The prices of a moment for calls that are served in these tiers: what is set for the first, by the factors of the others. */
export function pricesServed({ prices, tiers, serviceTiers = [] }: Omit<DatedPrices, "from">, names: readonly string[]): Priced {
  const [first, ...others] = names.flatMap((name) => serviceTiers.find((one) => one.name === name) ?? []);
  if (first === undefined) return { prices, tiers };
  return others.reduce<Priced>((dear, { factor }) => scaled(dear, factor), first);
}

function serviceTierOver(plain: Priced, own: ServiceTierPrices, usualFactors: Readonly<Record<string, number>>): CompiledServiceTier {
  const { service_tier: name, price_factor: factor = usualFactors[name] ?? 1 } = own;
  const usual = scaled(plain, factor);
  const prices = changed(usual.prices, own);
  if (own.tiers.length > 0) return { name, factor, prices, tiers: tiersOver(prices, own.tiers) };
  const set = changed(UNPRICED, own);
  return { name, factor, prices, tiers: usual.tiers.map((tier) => ({ ...tier, prices: notBelow(tier.prices, set) })) };
}

const OF_TOKENS = ["input", "output", "cacheRead", "cacheWrite", "cacheWriteHour", "audioInput", "audioOutput"] as const;

/** A long prompt costs no less than a short one. */
function notBelow(prices: Prices, least: Prices): Prices {
  const raised: { -readonly [Name in keyof Prices]: Prices[Name] } = { ...prices };
  for (const name of OF_TOKENS) if ((least[name] ?? 0) > (prices[name] ?? 0)) raised[name] = least[name] ?? null;
  return raised;
}

type Priced = Pick<DatedPrices, "prices" | "tiers">;

/** What tokens cost by a factor; fees beside them are the same in every tier. */
function scaled({ prices, tiers }: Priced, factor: number): Priced {
  if (factor === 1) return { prices, tiers };
  const by = (price: MicroUsd | null | undefined) => (price == null ? null : Math.round(price * factor));
  const all = (of: Prices): Prices => ({
    ...of,
    input: by(of.input),
    output: by(of.output),
    cacheRead: by(of.cacheRead),
    cacheWrite: by(of.cacheWrite),
    cacheWriteHour: by(of.cacheWriteHour),
    audioInput: by(of.audioInput),
    audioOutput: by(of.audioOutput),
    imageInput: by(of.imageInput),
    imageOutput: by(of.imageOutput),
    imageCacheRead: by(of.imageCacheRead),
    videoOutput: by(of.videoOutput),
  });
  return { prices: all(prices), tiers: tiers.map((tier) => ({ ...tier, prices: all(tier.prices) })) };
}

function hourPriced({ prices, tiers }: Priced): Priced {
  return { prices: hourPricedOf(prices), tiers: tiers.map((tier) => ({ ...tier, prices: hourPricedOf(tier.prices) })) };
}

function hourPricedOf(prices: Prices): Prices {
  return prices.cacheWriteHour !== null || prices.input === null ? prices : { ...prices, cacheWriteHour: prices.input * HOUR_WRITE_RATIO };
}

/** A change of the plain prices that says nothing of service tiers leaves those alone that follow them. */
export function serviceTiersAfter(
  before: readonly ServiceTierPrices[],
  { service_tiers: own }: Pick<StoredPriceChange, "service_tiers">,
): readonly ServiceTierPrices[] {
  return (
    own ??
    before.filter(({ service_tier: _name, price_factor: _factor, tiers, ...prices }) => tiers.length + Object.keys(prices).length === 0)
  );
}

interface DatedColumns extends Priced {
  readonly from: number;
  readonly serviceTiers: readonly ServiceTierPrices[];
}

function scheduleOfColumns(row: PricedRow): DatedColumns[] {
  const plain = pricesOfColumns(row);
  const changes = row.price_changes.map((change) => {
    // What is no token, and what tokens of one kind cost beside the others, stays whatever the tokens come to cost.
    const prices = changed({ ...plain, ...UNPRICED, audioInput: null, audioOutput: null }, change);
    return {
      from: Date.parse(change.effective_from),
      prices,
      tiers: tiersOver(prices, change.tiers),
      serviceTiers: serviceTiersAfter(row.service_tier_prices, change),
    };
  });
  const first = {
    from: Number.NEGATIVE_INFINITY,
    prices: plain,
    tiers: tiersOver(plain, row.price_tiers),
    serviceTiers: row.service_tier_prices,
  };
  return [first, ...changes].sort((a, b) => a.from - b.from);
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

/** In micro-dollars for a million, as their vendors publish them: a search, a container of 1 GB, five minutes of one, a prompt. */
const USUAL_TOOL_PRICES: Readonly<Partial<Record<VendorToolName, MicroUsd>>> = {
  file_search: 2_500_000_000,
  code_interpreter: 30_000_000_000,
  code_execution: 4_170_000_000,
  google_maps: 25_000_000_000,
};

/** For a million uses of a vendor's tool: what is set, else what its vendor usually takes. Null: unpriced. */
export function toolPriceOf(prices: Prices, tool: VendorToolName): MicroUsd | null {
  const set = prices.tools?.[tool] ?? USUAL_TOOL_PRICES[tool];
  if (set !== undefined || tool !== "image_generation") return set ?? null;
  const { imagePrices = [], image = null } = prices;
  return dearestOf([...imagePrices.map(({ cost }) => cost), ...(image === null ? [] : [image])]);
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
