import type { VendorToolName, ModelUpdate, PriceChange, PriceTier, ServiceTierPrice } from "@gatehouse/contracts/models";
import { microsFromUsd, usdFromMicros } from "../../kernel/money.ts";
import type { ModelPatch, ModelRow } from "../../store/models/models.ts";
import { serviceTiersAfter } from "./prices.ts";
import type { ColumnPrices, ServiceTierPrices, StoredPriceChange as StoredChange, TierPrices } from "../../store/tables/models.ts";

/** Converts prices between the admin API (dollars) and the table (micro-dollars). */

const TOKEN_PRICES = [
  ["input_cost", "input_cost_per_million_tokens"],
  ["output_cost", "output_cost_per_million_tokens"],
  ["cache_read_cost", "cache_read_cost_per_million_tokens"],
  ["cache_write_cost", "cache_write_cost_per_million_tokens"],
  ["cache_write_hour_cost", "cache_write_hour_cost_per_million_tokens"],
  ["audio_input_cost", "audio_input_cost_per_million_tokens"],
  ["audio_output_cost", "audio_output_cost_per_million_tokens"],
] as const;

// The table stores media prices per million units; the factor is how many of those one unit of the API contains.
const MEDIA_PRICES = [
  ["image_cost", "image_cost", 1],
  ["audio_input_second_cost", "audio_input_cost_per_second", 1],
  ["audio_output_character_cost", "audio_output_cost_per_million_characters", 1_000_000],
  ["video_second_cost", "video_cost_per_second", 1],
  ["web_search_cost", "web_search_cost_per_thousand", 1_000],
  ["search_unit_cost", "search_unit_cost_per_thousand", 1_000],
  ["image_input_cost", "image_input_cost_per_million_tokens", 1_000_000],
  ["image_output_cost", "image_output_cost_per_million_tokens", 1_000_000],
  ["image_cache_read_cost", "image_cache_read_cost_per_million_tokens", 1_000_000],
  ["video_output_cost", "video_output_cost_per_million_tokens", 1_000_000],
] as const;

/** Members that define token prices: whoever sets one of them sets them all. */
export const TOKEN_PRICE_MEMBERS = [...TOKEN_PRICES.map(([, member]) => member), "price_tiers", "price_changes"] as const;

/** All body members that map to price columns. */
export const PRICE_MEMBERS: ReadonlySet<string> = new Set([
  ...TOKEN_PRICE_MEMBERS,
  ...MEDIA_PRICES.map(([, member]) => member),
  "service_tier_prices",
  "image_prices",
  "video_prices",
  "tool_prices",
]);

/** The columns that a body sets; omitted members set none. */
export function priceColumns(body: ModelUpdate): ModelPatch {
  const patch: ModelPatch = {};
  for (const [column, member] of TOKEN_PRICES) {
    const price = body[member];
    if (price !== undefined) patch[column] = price === null ? null : microsFromUsd(price);
  }
  for (const [column, member, units] of MEDIA_PRICES) {
    const price = body[member];
    if (price !== undefined) patch[column] = price === null ? null : Math.round((price * 1e12) / units);
  }
  if (body.price_tiers !== undefined) patch.price_tiers = JSON.stringify(storedTiers(body.price_tiers));
  if (body.service_tier_prices !== undefined) patch.service_tier_prices = JSON.stringify(body.service_tier_prices.map(storedServiceTier));
  if (body.image_prices !== undefined)
    patch.image_prices = JSON.stringify(
      body.image_prices.map(({ usd, ...attributes }) => ({ ...attributes, cost: Math.round(usd * 1e12) })),
    );
  if (body.video_prices !== undefined)
    patch.video_prices = JSON.stringify(
      body.video_prices.map(({ usd_per_second: usd, ...videoFields }) => ({ ...videoFields, second_cost: Math.round(usd * 1e12) })),
    );
  if (body.tool_prices !== undefined)
    patch.tool_prices = JSON.stringify(body.tool_prices.map(({ tool, usd_per_thousand: usd }) => ({ tool, cost: Math.round(usd * 1e9) })));
  if (body.price_changes !== undefined) patch.price_changes = JSON.stringify(body.price_changes.map(storedChange));
  return patch;
}

/** A row's prices as the admin API shows them. */
export function priceMembers(row: ModelRow) {
  const usd = (micros: number | null): number | null => (micros === null ? null : usdFromMicros(micros));
  const unit = (micros: number | null, units: number): number | null => (micros === null ? null : (micros * units) / 1e12);
  return {
    input_cost_per_million_tokens: usd(row.input_cost),
    output_cost_per_million_tokens: usd(row.output_cost),
    cache_read_cost_per_million_tokens: usd(row.cache_read_cost),
    cache_write_cost_per_million_tokens: usd(row.cache_write_cost),
    cache_write_hour_cost_per_million_tokens: usd(row.cache_write_hour_cost),
    audio_input_cost_per_million_tokens: usd(row.audio_input_cost),
    audio_output_cost_per_million_tokens: usd(row.audio_output_cost),
    web_search_cost_per_thousand: unit(row.web_search_cost, 1_000),
    search_unit_cost_per_thousand: unit(row.search_unit_cost, 1_000),
    price_tiers: row.price_tiers.map(shownTier),
    price_changes: row.price_changes.map((change) => ({
      effective_from: change.effective_from,
      ...shownPrices(change),
      ...(change.tiers.length === 0 ? {} : { price_tiers: change.tiers.map(shownTier) }),
      ...(change.service_tiers === undefined ? {} : { service_tier_prices: change.service_tiers.map(shownServiceTier) }),
    })),
    service_tier_prices: row.service_tier_prices.map(shownServiceTier),
    image_cost: unit(row.image_cost, 1),
    audio_input_cost_per_second: unit(row.audio_input_second_cost, 1),
    audio_output_cost_per_million_characters: unit(row.audio_output_character_cost, 1_000_000),
    video_cost_per_second: unit(row.video_second_cost, 1),
    image_input_cost_per_million_tokens: usd(row.image_input_cost),
    image_output_cost_per_million_tokens: usd(row.image_output_cost),
    image_cache_read_cost_per_million_tokens: usd(row.image_cache_read_cost),
    video_output_cost_per_million_tokens: usd(row.video_output_cost),
    image_prices: row.image_prices.map(({ cost, ...attributes }) => ({ ...attributes, usd: cost / 1e12 })),
    video_prices: row.video_prices.map(({ second_cost: cost, ...videoFields }) => ({ ...videoFields, usd_per_second: cost / 1e12 })),
    tool_prices: row.tool_prices.map(({ tool, cost }) => ({ tool: tool as VendorToolName, usd_per_thousand: cost / 1e9 })),
  };
}

/**
 * Applies the price changes already in force to the plain prices, so that a plain price written by an admin is not
 * overridden by a past change. Empty for a row without such changes.
 */
export function foldedChanges(row: Pick<ModelRow, "price_changes" | "service_tier_prices">, now: Date): ModelPatch {
  const due = row.price_changes.filter((change) => Date.parse(change.effective_from) <= now.getTime());
  const last = due.toSorted((a, b) => Date.parse(a.effective_from) - Date.parse(b.effective_from)).at(-1);
  if (last === undefined) return {};
  const patch: ModelPatch = {
    price_tiers: JSON.stringify(last.tiers),
    service_tier_prices: JSON.stringify(serviceTiersAfter(row.service_tier_prices, last)),
    price_changes: JSON.stringify(row.price_changes.filter((change) => !due.includes(change))),
  };
  for (const [column] of TOKEN_PRICES) patch[column] = last[column] ?? null;
  return patch;
}

type TokenPrices = Omit<PriceTier, "above_input_tokens">;

function storedPrices(prices: TokenPrices): ColumnPrices {
  const columns: ColumnPrices = {};
  for (const [column, member] of TOKEN_PRICES) {
    const price = prices[member];
    if (price !== undefined) columns[column] = microsFromUsd(price);
  }
  return columns;
}

function storedTiers(tiers: readonly PriceTier[]): TierPrices[] {
  return tiers
    .map((tier) => ({ above_input_tokens: tier.above_input_tokens, ...storedPrices(tier) }))
    .sort((a, b) => a.above_input_tokens - b.above_input_tokens);
}

function storedChange(change: PriceChange): StoredChange {
  return {
    effective_from: new Date(change.effective_from).toISOString(),
    ...storedPrices(change),
    tiers: storedTiers(change.price_tiers ?? []),
    ...(change.service_tier_prices && { service_tiers: change.service_tier_prices.map(storedServiceTier) }),
  };
}

function storedServiceTier(one: ServiceTierPrice): ServiceTierPrices {
  const { service_tier, price_factor, is_default } = one;
  return {
    service_tier,
    ...(price_factor !== undefined && { price_factor }),
    ...(is_default && { is_default }),
    ...storedPrices(one),
    tiers: storedTiers(one.price_tiers ?? []),
  };
}

function shownPrices(columns: ColumnPrices): TokenPrices {
  const prices: TokenPrices = {};
  for (const [column, member] of TOKEN_PRICES) {
    const micros = columns[column];
    if (micros !== undefined) prices[member] = usdFromMicros(micros);
  }
  return prices;
}

function shownTier(tier: TierPrices): PriceTier {
  return { above_input_tokens: tier.above_input_tokens, ...shownPrices(tier) };
}

function shownServiceTier({ service_tier, price_factor, is_default, tiers, ...columns }: ServiceTierPrices): ServiceTierPrice {
  return {
    service_tier,
    ...(price_factor !== undefined && { price_factor }),
    ...(is_default && { is_default }),
    ...shownPrices(columns),
    ...(tiers.length > 0 && { price_tiers: tiers.map(shownTier) }),
  };
}
