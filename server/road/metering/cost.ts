import {
  type DatedPrices,
  HOUR_WRITE_RATIO,
  imagePriceOf,
  pricesAt,
  type Prices,
  pricesServed,
  toolPriceOf,
  videoPriceOf,
} from "../../directory/models/prices.ts";
import { costOf, type MicroUsd } from "../../kernel/money.ts";
import { tiersServed } from "../../wire/serving.ts";
import { isSameResolution } from "../../wire/videos/resolution.ts";
import { cacheWriteTokens, inputTokens, type Usage } from "../../wire/usage.ts";
import type { ToolUses, VendorTool } from "../../wire/vendor-tools.ts";
import { arrivalOf, type Call } from "../call.ts";
import { modelOf } from "../target.ts";

export interface Cost {
  readonly micros: MicroUsd;
  /** What the provider's prompt cache saved compared to the plain input price; negative if writing to it cost more. */
  readonly cacheSavings: MicroUsd | null;
}

/** Cost at a point in time (milliseconds since the Unix epoch); null if unpriced, as in `costOfUsage`. */
export function costAt(schedule: readonly DatedPrices[], usage: Usage, millis: number): Cost | null {
  const { prices, tiers } = pricesServed(pricesAt(schedule, millis), tiersServed(usage.serving));
  if (tiers.length === 0) return costOfUsage(prices, usage);
  // The price tier is selected by the total input, cached or not, and applies to the whole call including its output.
  const input = inputTokens(usage);
  return costOfUsage(tiers.findLast((tier) => input > tier.aboveInputTokens)?.prices ?? prices, usage);
}

/**
 * Null if anything was used that has no price: unpriced is not free. A missing cache price falls back to the plain input price, the most a
 * provider would bill for reading. One-hour cache writes fall back to twice the input price: only Claude models distinguish them, and that
 * is the ratio their vendor publishes.
 */
export function costOfUsage(prices: Prices, usage: Usage): Cost | null {
  const { input, output } = prices;
  const byTokens = inputTokens(usage) + usage.output > 0 && input !== null && output !== null;
  if ((usage.spokenCharacters ?? 0) > 0 && !byTokens) return costEach(prices.spokenCharacter, usage.spokenCharacters ?? 0);
  if ((usage.searchUnits ?? 0) > 0 && prices.searchUnit != null) return costEach(prices.searchUnit, usage.searchUnits ?? 0);
  if ((usage.images ?? 0) > 0 && !byTokens) return costOfPictures(prices, usage);
  if ((usage.videoSeconds ?? 0) > 0 && !byTokens) return costOfVideo(prices, usage);
  // Transcription is billed per started second.
  if ((usage.audioSeconds ?? 0) > 0 && !byTokens) return costEach(prices.audioSecond, Math.ceil(usage.audioSeconds ?? 0));
  const { audioInput = 0, audioOutput = 0, imageInput = 0, imageOutput = 0, imageCacheRead = 0, videoOutput = 0, webSearches = 0 } = usage;
  if ((input === null && inputTokens(usage) > 0) || (output === null && usage.output > 0)) return null;
  if (webSearches > 0 && prices.webSearch == null) return null;
  const tools = feesOf(prices, usage.toolUses);
  if (tools === null) return null;
  const plain = input ?? 0;
  const cached = [
    { tokens: rest(usage.cacheRead, imageCacheRead), pricePerMillion: prices.cacheRead ?? plain },
    { tokens: imageCacheRead, pricePerMillion: prices.imageCacheRead ?? prices.cacheRead ?? prices.imageInput ?? plain },
    { tokens: usage.cacheWrite, pricePerMillion: prices.cacheWrite ?? plain },
    { tokens: usage.cacheWriteHour, pricePerMillion: prices.cacheWriteHour ?? plain * HOUR_WRITE_RATIO },
  ];
  const micros = costOf([
    { tokens: rest(usage.inputUncached, audioInput + imageInput), pricePerMillion: plain },
    { tokens: imageInput, pricePerMillion: prices.imageInput ?? plain },
    { tokens: audioInput, pricePerMillion: prices.audioInput ?? plain },
    ...cached,
    { tokens: rest(usage.output, audioOutput + imageOutput + videoOutput), pricePerMillion: output ?? 0 },
    { tokens: imageOutput, pricePerMillion: prices.imageOutput ?? output ?? 0 },
    { tokens: videoOutput, pricePerMillion: prices.videoOutput ?? output ?? 0 },
    { tokens: audioOutput, pricePerMillion: prices.audioOutput ?? output ?? 0 },
    { tokens: webSearches, pricePerMillion: prices.webSearch ?? 0 },
    ...tools,
  ]);
  const cachedTokens = usage.cacheRead + cacheWriteTokens(usage);
  if (cachedTokens === 0) return { micros, cacheSavings: null };
  return { micros, cacheSavings: costOf([{ tokens: cachedTokens, pricePerMillion: plain }]) - costOf(cached) };
}

/** Fees of vendor tools; null if one that was used has no price. */
export function feesOf(prices: Prices, uses: ToolUses = {}): { readonly tokens: number; readonly pricePerMillion: MicroUsd }[] | null {
  const fees = (Object.entries(uses) as [VendorTool, number][])
    .filter(([, used]) => used > 0)
    .map(([tool, used]) => ({ tokens: used, pricePerMillion: toolPriceOf(prices, tool) }));
  return fees.every((fee): fee is { tokens: number; pricePerMillion: MicroUsd } => fee.pricePerMillion !== null) ? fees : null;
}

/** `whole` less the separately priced `kinds`; 0 if a provider reports more of the kinds than of the whole. */
function rest(whole: number, kinds: number): number {
  return Math.max(0, whole - kinds);
}

function costOfPictures(prices: Prices, { images = 0, requestedImages }: Usage): Cost | null {
  return costEach(imagePriceOf(prices, requestedImages?.quality ?? null, requestedImages?.size ?? null), images);
}

function costOfVideo(prices: Prices, { videoSeconds = 0, videoResolution = null }: Usage): Cost | null {
  const price = videoPriceOf(prices, videoResolution === null ? null : (token) => isSameResolution(token, videoResolution));
  // Seconds can be fractional, unlike token counts, so the result is rounded.
  return price === null ? null : { micros: Math.round((videoSeconds * price) / 1_000_000), cacheSavings: null };
}

/** Items billed individually: characters, searches, audio seconds, and images without token counts or token prices. */
function costEach(perMillion: number | null | undefined, count: number): Cost | null {
  return perMillion == null ? null : { micros: costOf([{ tokens: count, pricePerMillion: perMillion }]), cacheSavings: null };
}

/** What a failed attempt cost; null if anything it used has no price. */
export function costOfAttempt(call: Call, usage: Usage): MicroUsd | null {
  const model = modelOf(call);
  return model === null ? null : (costAt(model.priceSchedule, usage, arrivalOf(call))?.micros ?? null);
}
