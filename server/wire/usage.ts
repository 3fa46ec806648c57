import { addedUses, type ToolUses } from "./vendor-tools.ts";

/** How a provider serves a call, where that may have a price of its own. Null: nobody said. */
export interface ServiceTier {
  /** As its vendor calls it; `standard` where it is the usual way. */
  readonly tier: string | null;
  /** Where the model runs, as Anthropic calls it; `global` where that is all one. */
  readonly geo: string | null;
}

/**
 * Tokens of one call in the form all vendors' counts are brought to: every input token stands in exactly one of the
 * four input classes, because each is billed at its own rate.
 */
export interface Usage {
  readonly inputUncached: number;
  readonly cacheRead: number;
  /** Written to the vendor's prompt cache for its default time: five minutes where the vendor knows an hour as well. */
  readonly cacheWrite: number;
  /** Written for an hour. */
  readonly cacheWriteHour: number;
  /** Reasoning included. */
  readonly output: number;
  /** The part of the output that was reasoning, for information: it is billed as output. */
  readonly reasoning: number;
  /** The parts of `inputUncached` and `output` that were audio, where the provider tells them apart. */
  readonly audioInput?: number;
  readonly audioOutput?: number;
  /** The parts of `inputUncached` and `output` that were pictures, where the provider tells them apart. */
  readonly imageInput?: number;
  readonly imageOutput?: number;
  /** The part of `cacheRead` that was pictures. */
  readonly imageCacheRead?: number;
  /** The part of `output` that was video. */
  readonly videoOutput?: number;
  /** Searches of the vendor's own web search, which have a fee beside the tokens. */
  readonly webSearches?: number;
  /** Uses of other tools of the vendor's that have a fee. */
  readonly toolUses?: ToolUses;
  /** Of reranking, by which it is billed where the model's record prices them. */
  readonly searchUnits?: number;
  /** Pictures that came: billed by the tokens told of them, else each by itself, as what was asked for is priced. */
  readonly images?: number;
  readonly imagesAsked?: { readonly quality: string | null; readonly size: string | null };
  /** Of video that came, billed by the tokens told of it, else by its length, as its resolution is priced. */
  readonly videoSeconds?: number;
  readonly videoResolution?: string | null;
  /** Characters that were spoken, by which speech is billed. */
  readonly spokenCharacters?: number;
  /** Of sound that was heard, by which hearing is billed where no tokens are told. */
  readonly audioSeconds?: number;
  /** How it was served, where that may have a price of its own; the usual way when left out. */
  readonly serving?: ServiceTier;
  /** True when the provider never told and the gateway counted for itself. */
  readonly estimated: boolean;
}

/**
 * What a vendor told, as a count: zero where nothing was told, and not a number where what was told is no count, which
 * makes every sum it goes into one that nobody believes.
 */
export function count(value: unknown): number {
  if (value === undefined || value === null) return 0;
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : Number.NaN;
}

/** The members of a usage that tell of audio; none where there was none. */
export function audioOf(input: number, output: number): Pick<Usage, "audioInput" | "audioOutput"> {
  return { ...(input > 0 ? { audioInput: input } : {}), ...(output > 0 ? { audioOutput: output } : {}) };
}

/** The members of a usage that tell of pictures; none where there was none. */
export function imagesOf(input: number, output: number, cacheRead = 0): Pick<Usage, "imageInput" | "imageOutput" | "imageCacheRead"> {
  return {
    ...(input > 0 ? { imageInput: input } : {}),
    ...(output > 0 ? { imageOutput: output } : {}),
    ...(cacheRead > 0 ? { imageCacheRead: cacheRead } : {}),
  };
}

/** Of two answers together. */
export function addedUsage(one: Usage, other: Usage): Usage {
  const serving = one.serving ?? other.serving;
  const sum = (name: "audioInput" | "audioOutput" | "imageInput" | "imageOutput" | "imageCacheRead" | "webSearches" | "images") =>
    one[name] === undefined && other[name] === undefined ? {} : { [name]: (one[name] ?? 0) + (other[name] ?? 0) };
  return {
    inputUncached: one.inputUncached + other.inputUncached,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
    cacheWriteHour: one.cacheWriteHour + other.cacheWriteHour,
    output: one.output + other.output,
    reasoning: one.reasoning + other.reasoning,
    ...sum("audioInput"),
    ...sum("audioOutput"),
    ...sum("imageInput"),
    ...sum("imageOutput"),
    ...sum("imageCacheRead"),
    ...sum("webSearches"),
    ...sum("images"),
    ...addedUses(one.toolUses, other.toolUses),
    ...(serving && { serving }),
    estimated: one.estimated || other.estimated,
  };
}

export function inputTokens(usage: Usage): number {
  return usage.inputUncached + usage.cacheRead + cacheWriteTokens(usage);
}

/** As a stream tells it that was broken off before it began. */
export function tellsNothing(usage: Usage): boolean {
  return inputTokens(usage) + usage.output + (usage.spokenCharacters ?? 0) === 0;
}

export function cacheWriteTokens(usage: Usage): number {
  return usage.cacheWrite + usage.cacheWriteHour;
}

/**
 * No model reads or writes as much in one call: beyond it a count is a mistake of whoever tells it, which would exhaust budgets and
 * overflow totals.
 */
const MAX_TOLD = 1_000_000_000;

/** A month: no file that may be sent plays as long. */
const MAX_SECONDS = 31 * 86_400;

/** A count of tokens somebody told, where it can be believed; null else. */
export function plausibleCount(told: number | null): number | null {
  return told !== null && Number.isSafeInteger(told) && told >= 0 && told <= MAX_TOLD ? told : null;
}

/** What the provider told, where it can be believed; null else. A part below zero would make the rest of the call free. */
export function plausibleUsage(told: Usage | null): Usage | null {
  if (told === null) return null;
  const {
    inputUncached,
    cacheRead,
    cacheWrite,
    cacheWriteHour,
    output,
    reasoning,
    audioInput = 0,
    audioOutput = 0,
    webSearches = 0,
    audioSeconds = 0,
    videoSeconds = 0,
  } = told;
  const parts = [inputUncached, cacheRead, cacheWrite, cacheWriteHour, output, reasoning, audioInput, audioOutput, webSearches];
  if (!(audioSeconds >= 0 && audioSeconds <= MAX_SECONDS && videoSeconds >= 0 && videoSeconds <= MAX_SECONDS)) return null;
  return parts.every((part) => part >= 0) && inputTokens(told) + output + webSearches <= MAX_TOLD ? told : null;
}

/** Four characters a token: what a call is metered at when it ended before its provider said. */
export function estimateTokens(characters: number): number {
  return Math.ceil(characters / 4);
}

/** What a stream used that broke off after its provider had told of a part: output of so many characters came since. */
export function withOutputSince(told: Usage, characters: number): Usage {
  return characters === 0 ? told : { ...told, output: told.output + estimateTokens(characters), estimated: true };
}
