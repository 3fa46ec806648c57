import {
  type CompiledServiceTier,
  type DatedPrices,
  imagePriceOf,
  type Prices,
  pricesServed,
  videoPriceOf,
} from "../../../directory/models/prices.ts";
import type { ModelEntry } from "../../../directory/snapshot.ts";
import { costOf, type MicroUsd } from "../../../kernel/money.ts";
import { feesOf } from "../../../road/metering/cost.ts";
import { billedVideoSeconds, billedVideoTokens } from "../../../road/metering/video-billing.ts";
import type { RequestView } from "../../../road/view.ts";
import { TOKENS_OF_SHOWN } from "../../../wire/images/picture-tokens.ts";
import type { ReferencedVideo, Pictures } from "../../../wire/media-request.ts";
import type { Reranking } from "../../../wire/rerank/reranking.ts";
import { TOKENS_OF_HEARD_SECOND } from "../../../wire/transcriptions/transcript-usage.ts";
import { isRegion, tiersServed } from "../../../wire/serving.ts";
import type { ToolUses } from "../../../wire/vendor-tools.ts";
import type { ServiceTier } from "../../../wire/usage.ts";
import { isSameResolution } from "../../../wire/videos/resolution.ts";
import type { Demand } from "../counters/counters.ts";

/**
 * The most that one call can use.
 *
 * Input: one token per byte of the request. No tokenizer in use makes more than one token of a byte, and what a provider adds around a
 * message is shorter than the JSON around it. Only what the request refers to without containing it (an image URL, a conversation kept by
 * the provider) can exceed this, and is counted once known.
 *
 * Output: the least of what the caller asked for, the model's maximum, and what governance allows.
 */
export interface WorstCase {
  /** When the call arrived (ms), which determines the prices in force. */
  readonly at: number;
  readonly inputTokens: number;
  /** One token per byte of the input; `inputTokens` equals it until tokens are counted. */
  readonly inputBytes: number;
  readonly outputTokens: number;
  /** Uses of the vendor's own web search, each with a fee; one is assumed if the request does not bound them. */
  readonly searches: number;
  /** Uses of the vendor's other tools, likewise; absent: none. */
  readonly tools?: ToolUses | undefined;
  /** Images, which may have a price each; absent: none. */
  readonly images?: number;
  readonly requestedImages?: Pictures["asked"];
  /** Seconds of video, billed by length or by tokens; absent: none. */
  readonly videoSeconds?: number;
  readonly videoResolution?: string | null;
  /** Characters to be spoken, billed by character or by tokens; absent: none. */
  readonly spokenCharacters?: number;
  /** Search units for reranking, billed by unit or by tokens; absent: none. */
  readonly searchUnits?: number;
  /** Seconds of audio input, billed by length or by tokens; absent: none. */
  readonly audioSeconds?: number;
  /** The service tier requested; absent: the default tier. */
  readonly serving?: ServiceTier | undefined;
  /** True if the caller set no bound, so that the gateway may set a lower one. */
  readonly outputIsOurs: boolean;
  /** True if nothing but the gateway bounds the output, so that the bound must be written into the request. */
  readonly outputMustBeSet: boolean;
}

/** Output bound, in tokens, if neither the caller nor the model's record sets one. */
const DEFAULT_OUTPUT = 4_096;
/** A shorter answer, in tokens, is not worth a call. */
const MIN_OUTPUT = 16;

export interface Bounds {
  readonly at: number;
  readonly bodyBytes: number;
  /** Bytes that governance and the model's record add to the instructions. */
  readonly addedBytes: number;
  readonly outputCeiling: number | null;
}

/** For calls that generate nothing, such as embeddings or token counts. */
export function worstCaseWithoutOutput(worst: WorstCase): WorstCase {
  return { ...worst, outputTokens: 0, outputIsOurs: false, outputMustBeSet: false };
}

/** For image generation. The output cannot be reduced: a request cannot ask for images of fewer tokens. */
export function worstCaseOfImages(
  { maxOutputTokens }: ModelEntry,
  worst: WorstCase,
  { count, tokensEach, shown, asked: requested }: Pictures,
): WorstCase {
  const each = Math.min(tokensEach, maxOutputTokens ?? tokensEach);
  const inputTokens = worst.inputTokens + (shown?.count ?? 0) * TOKENS_OF_SHOWN * count;
  return {
    ...worst,
    inputTokens,
    inputBytes: inputTokens,
    outputTokens: each * count,
    images: count,
    ...(requested && { requestedImages: requested }),
    outputIsOurs: false,
    outputMustBeSet: false,
  };
}

/** For video generation, billed by length, or by tokens if the model's record has prices for them. */
export function worstCaseOfVideo(model: ModelEntry, worst: WorstCase, video: ReferencedVideo): WorstCase {
  return {
    ...worstCaseWithoutOutput(worst),
    videoSeconds: billedVideoSeconds(model, video),
    videoResolution: video.resolution,
    outputTokens: billedVideoTokens(model, video),
  };
}

/** Most tokens that a transcript has per second of audio. */
const WRITTEN_A_SECOND = 16;

/** For audio input, whose length in seconds bounds both input and output. */
export function worstCaseOfAudio(worst: WorstCase, seconds: number): WorstCase {
  const billedSeconds = Math.ceil(seconds);
  const [inputTokens, outputTokens] = [worst.inputTokens + billedSeconds * TOKENS_OF_HEARD_SECOND, billedSeconds * WRITTEN_A_SECOND];
  return {
    ...worst,
    inputTokens,
    inputBytes: inputTokens,
    outputTokens,
    audioSeconds: billedSeconds,
    outputIsOurs: false,
    outputMustBeSet: false,
  };
}

/** Most audio tokens per spoken character, assuming it takes a second. */
const SPOKEN_A_CHARACTER = 25;

/** For speech synthesis, billed by characters, or by tokens if the vendor reports them and the model's record has prices for them. */
export function worstCaseOfSpeech(model: ModelEntry, worst: WorstCase, spokenCharacters: number): WorstCase {
  const byTokens = model.priceSchedule.some(({ prices }) => prices.input !== null && prices.output !== null);
  const most = byTokens ? spokenCharacters * SPOKEN_A_CHARACTER : 0;
  return { ...worstCaseWithoutOutput(worst), spokenCharacters, outputTokens: Math.min(most, model.maxOutputTokens ?? most) };
}

/** For reranking, billed by search units or by input tokens. */
export function worstCaseOfReranking(worst: WorstCase, { searchUnits, readBytes }: Reranking): WorstCase {
  const inputTokens = Math.max(worst.inputTokens, readBytes);
  return { ...worstCaseWithoutOutput(worst), inputTokens, inputBytes: inputTokens, searchUnits };
}

/** The most that one of the gateway's own calls can use. `outputTokens`: the maximum its request sets; null: none. */
export function worstCaseOfNested(model: ModelEntry, at: number, bodyBytes: number, outputTokens: number | null): WorstCase {
  const known = [outputTokens ?? model.defaultMaxTokens, model.maxOutputTokens].filter((value) => value !== null);
  const inputBytes = Math.min(bodyBytes + Buffer.byteLength(model.systemPrompt ?? ""), model.contextWindow ?? Number.MAX_SAFE_INTEGER);
  return {
    at,
    inputTokens: inputBytes,
    inputBytes,
    outputTokens: known.length === 0 ? DEFAULT_OUTPUT : Math.min(...known),
    searches: 0,
    outputIsOurs: false,
    outputMustBeSet: false,
  };
}

export function worstCaseOf(model: ModelEntry, view: RequestView, bounds: Bounds): WorstCase {
  // Instructions are added to each prompt, and the context window applies to each prompt separately.
  const inputTokens = Math.min(
    bounds.bodyBytes + bounds.addedBytes * view.prompts,
    (model.contextWindow ?? Number.MAX_SAFE_INTEGER) * view.prompts,
  );
  const outputTokens = view.unbounded ? [] : [view.maxTokens ?? model.defaultMaxTokens, bounds.outputCeiling];
  const known = [...outputTokens, model.maxOutputTokens].filter((value) => value !== null);
  const each = known.length === 0 ? DEFAULT_OUTPUT : Math.min(...known);
  return {
    at: bounds.at,
    inputTokens,
    inputBytes: inputTokens,
    outputTokens: each * view.candidates,
    searches: view.webSearches ?? 1,
    tools: view.vendorTools,
    serving: view.serving,
    outputIsOurs: view.unbounded !== true && view.maxTokens === null,
    outputMustBeSet: view.unbounded !== true && known.length === 0,
  };
}

export function demandOf(model: ModelEntry, worst: WorstCase, outputTokens: number): Demand {
  return { tokens: worst.inputTokens + outputTokens, micros: highestCost(model, { ...worst, outputTokens }) ?? 0, toolCalls: 0 };
}

type Dear = Pick<
  WorstCase,
  "at" | "serving" | "inputTokens" | "outputTokens" | "searches" | "images" | "requestedImages" | "spokenCharacters"
> &
  Pick<WorstCase, "tools" | "searchUnits" | "audioSeconds" | "videoSeconds" | "videoResolution">;

const most = (prices: readonly (number | null | undefined)[]): number | null =>
  prices.reduce<number | null>((dear, price) => (price == null ? dear : Math.max(dear ?? 0, price)), null);

/** The highest price of an image; for what the request leaves open the provider may choose any. */
function dearestPicture(of: Prices, requested: Pictures["asked"]): number | null {
  if (requested !== undefined && requested.quality !== null && requested.size !== null)
    return imagePriceOf(of, requested.quality, requested.size);
  return most([...(of.imagePrices ?? []).map(({ cost }) => cost), of.image]);
}

function dearestVideo(of: Prices, resolution: string | null): number | null {
  if (resolution !== null) return videoPriceOf(of, (token) => isSameResolution(token, resolution));
  return most([...(of.videoPrices ?? []).map(({ second_cost: cost }) => cost), of.videoSecond]);
}

/**
 * The highest cost in micro-dollars that the call could be billed; null if a price is missing. Each part is taken at
 * its highest rate in any tier; for input that includes cache reads and writes.
 */
export function highestCost(
  model: Pick<ModelEntry, "priceSchedule">,
  {
    at,
    serving,
    inputTokens,
    outputTokens,
    searches,
    tools,
    images = 0,
    requestedImages,
    videoSeconds = 0,
    videoResolution = null,
    spokenCharacters = 0,
    searchUnits = 0,
    audioSeconds = 0,
  }: Dear,
): MicroUsd | null {
  let dear: MicroUsd | null = null;
  for (const of of inForce(model.priceSchedule, at, serving)) {
    if (spokenCharacters > 0) {
      if (of.spokenCharacter == null) return null;
      const byTokens = [
        { tokens: inputTokens, pricePerMillion: of.input ?? 0 },
        { tokens: outputTokens, pricePerMillion: Math.max(of.output ?? 0, of.audioOutput ?? 0) },
      ];
      // Some vendors report speech tokens and bill those.
      const tokenCost = of.input !== null && of.output !== null ? costOf(byTokens) : 0;
      dear = Math.max(dear ?? 0, tokenCost, costOf([{ tokens: spokenCharacters, pricePerMillion: of.spokenCharacter }]));
      continue;
    }
    // Images, video, audio and search units are billed by unit or by tokens; one of the two prices is enough.
    const each = [
      [images, dearestPicture(of, requestedImages)],
      [Math.ceil(videoSeconds), dearestVideo(of, videoResolution)],
      [audioSeconds, of.audioSecond],
      [searchUnits, of.searchUnit],
    ].flatMap(([count, price]) => (!count || price == null ? [] : [costOf([{ tokens: count, pricePerMillion: price }])]));
    for (const one of each) dear = Math.max(dear ?? 0, one);
    if (each.length > 0 && (of.input === null || of.output === null)) continue;
    if ((of.input === null && inputTokens > 0) || (of.output === null && outputTokens > 0) || (of.webSearch == null && searches > 0))
      return null;
    const fees = feesOf(of, tools);
    if (fees === null) return null;
    const cost = costOf([
      ...fees,
      {
        tokens: inputTokens,
        pricePerMillion:
          most([of.input, of.cacheRead, of.cacheWrite, of.cacheWriteHour, of.audioInput, of.imageInput, of.imageCacheRead]) ?? 0,
      },
      { tokens: outputTokens, pricePerMillion: dearestOutput(of) },
      { tokens: searches, pricePerMillion: of.webSearch ?? 0 },
    ]);
    dear = dear === null ? cost : Math.max(dear, cost);
  }
  return dear;
}

function dearestOutput({ output, audioOutput, imageOutput, videoOutput }: Prices): number {
  return most([output, audioOutput, imageOutput, videoOutput]) ?? 0;
}

/**
 * The prices in force at a moment: those of all tiers, including any tier that the call may be served at: the requested one, or the
 * account's default if the request leaves the tier (or the region, if that is the default) open. For a routing group's placeholder, whose
 * prices are undated, those of all members.
 */
function inForce(schedule: readonly DatedPrices[], at: number, serving: ServiceTier | undefined): Prices[] {
  const latest = schedule.reduce((from, dated) => (dated.from <= at && dated.from > from ? dated.from : from), Number.NEGATIVE_INFINITY);
  const names = tiersServed(serving);
  const isLeftOpen = ({ name }: CompiledServiceTier) => (isRegion(name) ? serving?.geo : serving?.tier) == null;
  const all = ({ prices, tiers }: Pick<DatedPrices, "prices" | "tiers">) => [prices, ...tiers.map((tier) => tier.prices)];
  return schedule.flatMap((dated) => {
    if (dated.from !== latest) return [];
    const defaults = (dated.serviceTiers ?? []).filter((tier) => tier.isDefault === true && isLeftOpen(tier));
    const served = [...(names.length === 0 ? [] : [names]), ...defaults.map((tier) => [tier.name, ...names])];
    return [...all(dated), ...served.flatMap((together) => all(pricesServed(dated, together)))];
  });
}

/** The most output tokens that the remaining amount covers; null if they are too few to be worth a call. */
export function affordableOutput(model: ModelEntry, worst: WorstCase, measure: "tokens" | "micros", left: number): number | null {
  let output = left - worst.inputTokens;
  if (measure === "micros") {
    const price = Math.max(...inForce(model.priceSchedule, worst.at, worst.serving).map(dearestOutput));
    const forInput = highestCost(model, { ...worst, outputTokens: 0 }) ?? 0;
    // One micro-dollar less, because the cost is rounded once, over its sum.
    output = price === 0 ? (left >= forInput ? worst.outputTokens : 0) : Math.floor(((left - forInput - 1) * 1_000_000) / price);
  }
  return output < MIN_OUTPUT ? null : Math.min(output, worst.outputTokens);
}
