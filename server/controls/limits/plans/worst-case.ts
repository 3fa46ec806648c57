import { type DatedPrices, imagePriceOf, type Prices, pricesServed, videoPriceOf } from "../../../directory/models/prices.ts";
import type { ModelEntry } from "../../../directory/snapshot.ts";
import { costOf, type MicroUsd } from "../../../kernel/money.ts";
import { feesOf } from "../../../road/metering/cost.ts";
import { billedVideoSeconds, billedVideoTokens } from "../../../road/metering/video-billing.ts";
import type { RequestView } from "../../../road/view.ts";
import { TOKENS_OF_SHOWN } from "../../../wire/images/picture-tokens.ts";
import type { AskedVideo, Pictures } from "../../../wire/media-asked.ts";
import type { Reranking } from "../../../wire/rerank/reranking.ts";
import { TOKENS_OF_HEARD_SECOND } from "../../../wire/transcriptions/transcript-usage.ts";
import { tiersServed } from "../../../wire/serving.ts";
import type { ToolUses } from "../../../wire/vendor-tools.ts";
import type { ServiceTier } from "../../../wire/usage.ts";
import { isSameResolution } from "../../../wire/videos/resolution.ts";
import type { Demand } from "../counters/counters.ts";

/**
 * The most one call can come to. Of the input: one token for each byte of the request. No tokenizer in use makes more
 * than one token of a byte, and what a provider puts around a message is less than the JSON around it; only what the
 * request names and does not hold (an image at an address, a conversation its provider keeps) can be more, and is counted
 * when it is known. Of the output: the least of what the caller asked for, what the model gives at most, and what
 * governance allows.
 */
export interface WorstCase {
  /** When the call arrived, milliseconds: it is billed at the prices of that moment. */
  readonly at: number;
  readonly inputTokens: number;
  /** One token for each byte of the input: what `inputTokens` is until it is counted. */
  readonly inputBytes: number;
  readonly outputTokens: number;
  /** Of the vendor's own web search, for a fee each. Where the request bounds them not at all there is no worst case: one is counted. */
  readonly searches: number;
  /** Uses of other tools of the vendor's, likewise; none when left out. */
  readonly tools?: ToolUses;
  /** Pictures, which a price for each may be set for; none when left out. */
  readonly images?: number;
  readonly imagesAsked?: Pictures["asked"];
  /** Seconds of video, billed by themselves or by tokens; none when left out. */
  readonly videoSeconds?: number;
  readonly videoResolution?: string | null;
  /** Characters to be spoken, billed by themselves or by tokens; none when left out. */
  readonly spokenCharacters?: number;
  /** Of reranking, billed by themselves or by tokens; none when left out. */
  readonly searchUnits?: number;
  /** Seconds of sound to be heard, billed by themselves or by tokens; none when left out. */
  readonly audioSeconds?: number;
  /** How it is asked to be served; the usual way when left out. */
  readonly serving?: ServiceTier | undefined;
  /** True when the caller named no bound: then the gateway may set a lower one. */
  readonly outputIsOurs: boolean;
  /** True when nothing but the gateway bounds the output: then the bound must be written into the request. */
  readonly outputMustBeSet: boolean;
}

/** The bound of an answer whose length neither the caller nor the model's record bounds. */
const DEFAULT_OUTPUT = 4_096;
/** An answer shorter than this is not worth a call. */
const LEAST_OUTPUT = 16;

export interface Bounds {
  readonly at: number;
  readonly bodyBytes: number;
  /** What governance and the model's record add to the instructions. */
  readonly addedBytes: number;
  readonly outputCeiling: number | null;
}

/** For a call that generates nothing, such as embeddings or a token count. */
export function worstCaseWithoutOutput(worst: WorstCase): WorstCase {
  return { ...worst, outputTokens: 0, outputIsOurs: false, outputMustBeSet: false };
}

/** For image generation. Nothing is shortened: a request cannot ask for images of fewer tokens. */
export function worstCaseOfImages(
  { maxOutputTokens }: ModelEntry,
  worst: WorstCase,
  { count, tokensEach, shown, asked }: Pictures,
): WorstCase {
  const each = Math.min(tokensEach, maxOutputTokens ?? tokensEach);
  const inputTokens = worst.inputTokens + (shown?.count ?? 0) * TOKENS_OF_SHOWN * count;
  return {
    ...worst,
    inputTokens,
    inputBytes: inputTokens,
    outputTokens: each * count,
    images: count,
    ...(asked && { imagesAsked: asked }),
    outputIsOurs: false,
    outputMustBeSet: false,
  };
}

/** For video generation, billed by its length, or by tokens where the model's record prices those. */
export function worstCaseOfVideo(model: ModelEntry, worst: WorstCase, film: AskedVideo): WorstCase {
  return {
    ...worstCaseWithoutOutput(worst),
    videoSeconds: billedVideoSeconds(model, film),
    videoResolution: film.resolution,
    outputTokens: billedVideoTokens(model, film),
  };
}

/** Tokens that the words in a second of sound come to at most. */
const WRITTEN_A_SECOND = 16;

/** For audio input: what the call reads and writes is bounded by the length of the audio in seconds. */
export function worstCaseOfAudio(worst: WorstCase, seconds: number): WorstCase {
  const heard = Math.ceil(seconds);
  const [inputTokens, outputTokens] = [worst.inputTokens + heard * TOKENS_OF_HEARD_SECOND, heard * WRITTEN_A_SECOND];
  return { ...worst, inputTokens, inputBytes: inputTokens, outputTokens, audioSeconds: heard, outputIsOurs: false, outputMustBeSet: false };
}

/** Tokens that a character comes to at most when it is spoken, a second long. */
const SPOKEN_A_CHARACTER = 25;

/** For speech synthesis, billed by characters, or by tokens where the vendor reports them and the model's record prices those. */
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

/** The most a call of the gateway's own can come to. `outputTokens`: what its request asks for at most; null: nothing. */
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
  // Instructions are put before each prompt, and the window holds each of them.
  const inputTokens = Math.min(
    bounds.bodyBytes + bounds.addedBytes * view.prompts,
    (model.contextWindow ?? Number.MAX_SAFE_INTEGER) * view.prompts,
  );
  const asked = view.unbounded ? [] : [view.maxTokens ?? model.defaultMaxTokens, bounds.outputCeiling];
  const known = [...asked, model.maxOutputTokens].filter((value) => value !== null);
  const each = known.length === 0 ? DEFAULT_OUTPUT : Math.min(...known);
  return {
    at: bounds.at,
    inputTokens,
    inputBytes: inputTokens,
    outputTokens: each * view.candidates,
    searches: view.webSearches ?? 1,
    ...(view.vendorTools && { tools: view.vendorTools }),
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
  "at" | "serving" | "inputTokens" | "outputTokens" | "searches" | "images" | "imagesAsked" | "spokenCharacters"
> &
  Pick<WorstCase, "tools" | "searchUnits" | "audioSeconds" | "videoSeconds" | "videoResolution">;

const most = (prices: readonly (number | null | undefined)[]): number | null =>
  prices.reduce<number | null>((dear, price) => (price == null ? dear : Math.max(dear ?? 0, price)), null);

/** What was left unsaid the provider may choose at any price. */
function dearestPicture(of: Prices, asked: Pictures["asked"]): number | null {
  if (asked !== undefined && asked.quality !== null && asked.size !== null) return imagePriceOf(of, asked.quality, asked.size);
  return most([...(of.imagePrices ?? []).map(({ cost }) => cost), of.image]);
}

function dearestFilm(of: Prices, resolution: string | null): number | null {
  if (resolution !== null) return videoPriceOf(of, (token) => isSameResolution(token, resolution));
  return most([...(of.videoPrices ?? []).map(({ second_cost: cost }) => cost), of.videoSecond]);
}

/**
 * The highest cost in micro-dollars the call could be billed; null when a price is missing. Each part is taken at its most expensive rate
 * of any tier: input fresh, read from a cache or written to one.
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
    imagesAsked,
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
      // Some vendors tell tokens of speech and bill those.
      const told = of.input !== null && of.output !== null ? costOf(byTokens) : 0;
      dear = Math.max(dear ?? 0, told, costOf([{ tokens: spokenCharacters, pricePerMillion: of.spokenCharacter }]));
      continue;
    }
    // Pictures and sound are billed by tokens or by themselves: one of the two prices is enough.
    const each = [
      [images, dearestPicture(of, imagesAsked)],
      [Math.ceil(videoSeconds), dearestFilm(of, videoResolution)],
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

/** The prices of a moment, those of all tiers, and those it is asked to be served at, which it may not be. Of a routing group's stand-in, whose schedule has no dates, those of all members. */
function inForce(schedule: readonly DatedPrices[], at: number, serving: ServiceTier | undefined): Prices[] {
  const latest = schedule.reduce((from, dated) => (dated.from <= at && dated.from > from ? dated.from : from), Number.NEGATIVE_INFINITY);
  const names = tiersServed(serving);
  const all = ({ prices, tiers }: Pick<DatedPrices, "prices" | "tiers">) => [prices, ...tiers.map((tier) => tier.prices)];
  return schedule.flatMap((dated) => {
    if (dated.from !== latest) return [];
    return names.length === 0 ? all(dated) : [...all(dated), ...all(pricesServed(dated, names))];
  });
}

/** The most output tokens that the amount left covers, or null when they are too few to be worth the call. */
export function affordableOutput(model: ModelEntry, worst: WorstCase, measure: "tokens" | "micros", left: number): number | null {
  let output = left - worst.inputTokens;
  if (measure === "micros") {
    const price = Math.max(...inForce(model.priceSchedule, worst.at, worst.serving).map(dearestOutput));
    const forInput = highestCost(model, { ...worst, outputTokens: 0 }) ?? 0;
    // One micro-dollar less: a cost is rounded once, over its sum.
    output = price === 0 ? (left >= forInput ? worst.outputTokens : 0) : Math.floor(((left - forInput - 1) * 1_000_000) / price);
  }
  return output < LEAST_OUTPUT ? null : Math.min(output, worst.outputTokens);
}
