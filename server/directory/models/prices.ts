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
  /** Cache writes kept for five minutes, or for the vendor's only duration. */
  readonly cacheWrite: MicroUsd | null;
  /** Cache writes kept for an hour. */
  readonly cacheWriteHour: MicroUsd | null;
  /** For tokens reported as audio; null or absent: priced as other tokens. */
  readonly audioInput?: MicroUsd | null;
  readonly audioOutput?: MicroUsd | null;
  /** Per million uses of the vendor's web search; null or absent: unpriced. */
  readonly webSearch?: MicroUsd | null;
  /** Per million uses of the vendor's other tools; for those omitted see `toolPriceOf`. */
  readonly tools?: Readonly<Partial<Record<VendorToolName, MicroUsd>>>;
  /** Per million search units of reranking; null or absent: billed by input tokens. */
  readonly searchUnit?: MicroUsd | null;
  /** Per million images; null or absent: unpriced. */
  readonly image?: MicroUsd | null;
  /** Per million seconds of audio input; null or absent: unpriced. */
  readonly audioSecond?: MicroUsd | null;
  /** Per million characters of speech output; null or absent: unpriced. */
  readonly spokenCharacter?: MicroUsd | null;
  /** For tokens reported as images or videos; null or absent: priced as other tokens. */
  readonly imageInput?: MicroUsd | null;
  readonly imageOutput?: MicroUsd | null;
  readonly imageCacheRead?: MicroUsd | null;
  readonly videoOutput?: MicroUsd | null;
  /** Per million seconds of video; null or absent: unpriced. */
  readonly videoSecond?: MicroUsd | null;
  /** Take precedence over `image` and `videoSecond`; the first match applies. */
  readonly imagePrices?: readonly StoredImagePrice[];
  readonly videoPrices?: readonly StoredVideoPrice[];
}

/** Prices of a whole call whose input exceeds `aboveInputTokens`. */
export interface CompiledPriceTier {
  readonly aboveInputTokens: number;
  readonly prices: Prices;
}

/** Prices of calls served in one of the vendor's service tiers. */
export interface CompiledServiceTier {
  readonly name: string;
  /** The factor on the usual prices, where the tier sets none. */
  readonly factor: number;
  /** Set if the vendor may serve requests in it that name no tier. */
  readonly isDefault?: true;
  readonly prices: Prices;
  readonly tiers: readonly CompiledPriceTier[];
}

/** Prices in force from a time until the next entry of the schedule. */
export interface DatedPrices {
  /** Epoch milliseconds; -Infinity for the first entry. */
  readonly from: number;
  readonly prices: Prices;
  /** Lowest threshold first. */
  readonly tiers: readonly CompiledPriceTier[];
  /** Service tiers whose prices differ from the usual ones; none if omitted. */
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

/** The default price of a one-hour cache write relative to plain input, as Anthropic publishes it. */
export const HOUR_WRITE_RATIO = 2;

const UNPRICED: Prices = { input: null, output: null, cacheRead: null, cacheWrite: null, cacheWriteHour: null };

type PricedRow = PriceColumns & Pick<ModelRow, "price_tiers" | "price_changes" | "service_tier_prices">;

/**
 * A model's prices by start date, oldest first; dates that pass need no recompilation. `keepsHours`: the model may use
 * one-hour cache writes, which then always have a price. `usualFactors`: the price factors of its vendor's service tiers,
 * for those without prices of the model's own.
 */
export function priceSchedule(row: PricedRow, keepsHours = false, usualFactors: Readonly<Record<string, number>> = {}): DatedPrices[] {
  return scheduleOfColumns(row).map(({ from, prices, tiers, serviceTiers }) => {
    const plain = { prices, tiers };
    const priced = <T extends Priced>(of: T): T => (keepsHours ? { ...of, ...hourPriced(of) } : of);
    const named = new Map(serviceTiers.map((one) => [one.service_tier, one]));
    for (const name of Object.keys(usualFactors)) if (!named.has(name)) named.set(name, { service_tier: name, tiers: [] });
    // The tier's one-hour writes follow its own input price.
    const inTiers = [...named.values()].map((one) => priced(serviceTierOver(plain, one, usualFactors)));
    return { from, ...priced(plain), serviceTiers: inTiers };
  });
}

/** The prices for calls served in several tiers at once: those of the first, multiplied by the factors of the others. */
export function pricesServed({ prices, tiers, serviceTiers = [] }: Omit<DatedPrices, "from">, names: readonly string[]): Priced {
  const [first, ...others] = names.flatMap((name) => serviceTiers.find((one) => one.name === name) ?? []);
  if (first === undefined) return { prices, tiers };
  return others.reduce<Priced>((dear, { factor }) => scaled(dear, factor), first);
}

function serviceTierOver(plain: Priced, own: ServiceTierPrices, usualFactors: Readonly<Record<string, number>>): CompiledServiceTier {
  const { service_tier: name, price_factor: factor = usualFactors[name] ?? 1, is_default: isDefault } = own;
  const named = { name, factor, ...(isDefault && { isDefault }) };
  const usual = scaled(plain, factor);
  const prices = changed(usual.prices, own);
  if (own.tiers.length > 0) return { ...named, prices, tiers: tiersOver(prices, own.tiers) };
  const set = changed(UNPRICED, own);
  return { ...named, prices, tiers: usual.tiers.map((tier) => ({ ...tier, prices: notBelow(tier.prices, set) })) };
}

const OF_TOKENS = ["input", "output", "cacheRead", "cacheWrite", "cacheWriteHour", "audioInput", "audioOutput"] as const;

/** Keeps a long prompt from costing less than a short one. */
function notBelow(prices: Prices, least: Prices): Prices {
  const raised: { -readonly [Name in keyof Prices]: Prices[Name] } = { ...prices };
  for (const name of OF_TOKENS) if ((least[name] ?? 0) > (prices[name] ?? 0)) raised[name] = least[name] ?? null;
  return raised;
}

type Priced = Pick<DatedPrices, "prices" | "tiers">;

/** Multiplies token prices; other fees are the same in every tier. */
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

/**
 * A change of the plain prices that leaves out service tiers keeps only those tiers that are defined by a factor alone. A tier with prices of
 * its own loses them, but stays the default: which tier an account is served in does not depend on prices.
 */
export function serviceTiersAfter(
  before: readonly ServiceTierPrices[],
  { service_tiers: own }: Pick<StoredPriceChange, "service_tiers">,
): readonly ServiceTierPrices[] {
  return (
    own ??
    before.flatMap((one) => {
      const { service_tier, price_factor: _factor, is_default, tiers, ...prices } = one;
      if (tiers.length + Object.keys(prices).length === 0) return [one];
      return is_default ? [{ service_tier, is_default, tiers: [] }] : [];
    })
  );
}

interface DatedColumns extends Priced {
  readonly from: number;
  readonly serviceTiers: readonly ServiceTierPrices[];
}

function scheduleOfColumns(row: PricedRow): DatedColumns[] {
  const plain = pricesOfColumns(row);
  const changes = row.price_changes.map((change) => {
    // Prices that are not per token, or only for tokens of one kind, are unaffected by the change.
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

/** The prices in force at `millis`. */
export function pricesAt(schedule: readonly DatedPrices[], millis: number): DatedPrices {
  let current = schedule[0];
  for (const dated of schedule) if (dated.from <= millis) current = dated;
  if (current === undefined) throw new Error("a price schedule is empty");
  return current;
}

/** A price omitted in a tier is taken from the tier below. */
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

/**
 * Per million images of a quality and size. Unspecified properties were chosen by the provider, so the dearest match
 * applies. Null is unpriced.
 */
export function imagePriceOf({ imagePrices = [], image = null }: Prices, quality: string | null, size: string | null): MicroUsd | null {
  const fits = (requested: string | undefined, listed: string | null, unsaid: boolean) =>
    requested === undefined || requested === listed || (unsaid && listed === null);
  const first = imagePrices.find((one) => fits(one.quality, quality, false) && fits(one.size, size, false));
  const any = imagePrices.filter((one) => fits(one.quality, quality, true) && fits(one.size, size, true));
  return first?.cost ?? image ?? dearestOf(any.map(({ cost }) => cost));
}

/** Micro-dollars per million uses. Comments name the section of the vendor's pricing page to compare them with. */
const USUAL_TOOL_PRICES: Readonly<Partial<Record<PricedTool, MicroUsd>>> = {
  // OpenAI, API pricing, "Built-in tools": a file search call; a container of 1 GB.
  file_search: 2_500_000_000,
  code_interpreter: 30_000_000_000,
  // Anthropic, Pricing, "Code execution tool": $0.05 an hour, of which a container is billed five minutes at least.
  code_execution: 4_170_000_000,
  // Google, Gemini Developer API pricing, "Grounding with Google Maps": a grounded prompt of Gemini 2.5; a query of Gemini 3.
  google_maps: 25_000_000_000,
  google_maps_query: 14_000_000_000,
};

/** A tool whose price an administrator can set, or the unit in which newer models are billed for it. */
type PricedTool = VendorToolName | "google_maps_query";

/** Per million uses of a vendor's tool: the price that was set, or else the vendor's usual one. Null is unpriced. */
export function toolPriceOf(prices: Prices, tool: PricedTool): MicroUsd | null {
  const set = prices.tools?.[tool === "google_maps_query" ? "google_maps" : tool] ?? USUAL_TOOL_PRICES[tool];
  if (set !== undefined || tool !== "image_generation") return set ?? null;
  const { imagePrices = [], image = null } = prices;
  return dearestOf([...imagePrices.map(({ cost }) => cost), ...(image === null ? [] : [image])]);
}

/** Per million seconds of video. `isResolution` is null if no resolution was requested. */
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
