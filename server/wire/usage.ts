import { addedUses, type VendorFees } from "./vendor-tools.ts";

/** How a provider served a call, as far as it affects the price. Null if not reported. */
export interface ServiceTier {
  /** The vendor's name of the tier; `standard` for the default one. */
  readonly tier: string | null;
  /** The region in which the model ran, by Anthropic's names; `global` if not restricted. */
  readonly geo: string | null;
}

/**
 * Token counts of one call, normalized across vendors. Every input token is in exactly one of the four input classes,
 * because each has its own price.
 */
export interface Usage extends VendorFees {
  readonly inputUncached: number;
  readonly cacheRead: number;
  /** Written to the vendor's prompt cache with the default lifetime (five minutes for vendors that also offer an hour). */
  readonly cacheWrite: number;
  /** Written to the prompt cache for one hour. */
  readonly cacheWriteHour: number;
  /** Includes reasoning. */
  readonly output: number;
  /** The part of `output` that was reasoning; informational, it is billed as output. */
  readonly reasoning: number;
  /** The parts of `inputUncached` and `output` that were audio, if the provider reports them. */
  readonly audioInput?: number;
  readonly audioOutput?: number;
  /** The parts of `inputUncached` and `output` that were images, if the provider reports them. */
  readonly imageInput?: number;
  readonly imageOutput?: number;
  /** The part of `cacheRead` that was images. */
  readonly imageCacheRead?: number;
  /** The part of `output` that was video. */
  readonly videoOutput?: number;
  /** Billing units of reranking, for models priced by them. */
  readonly searchUnits?: number;
  /** Images received: billed by their tokens if reported, otherwise per image at the price of the requested quality and size. */
  readonly images?: number;
  readonly requestedImages?: { readonly quality: string | null; readonly size: string | null };
  /** Video received: billed by its tokens if reported, otherwise per second at the price of its resolution. */
  readonly videoSeconds?: number;
  readonly videoResolution?: string | null;
  /** Characters spoken; the unit in which speech is billed. */
  readonly spokenCharacters?: number;
  /** Duration of transcribed audio; billed if no tokens are reported. */
  readonly audioSeconds?: number;
  /** How the call was served, as far as it affects the price; absent for standard service. */
  readonly serving?: ServiceTier;
  /** True if the provider reported no usage and the gateway counted itself. */
  readonly estimated: boolean;
}

/** A count reported by a vendor: 0 if absent, NaN if invalid, so that every sum containing it is rejected as implausible. */
export function count(value: unknown): number {
  if (value === undefined || value === null) return 0;
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : Number.NaN;
}

/** False if the call was measured in another unit, and no tokens were reported: the zeros of its counts are no facts then. */
export function hasTokenCounts(usage: Usage): boolean {
  const { images, spokenCharacters, audioSeconds, videoSeconds, searchUnits } = usage;
  const otherwise = [images, spokenCharacters, audioSeconds, videoSeconds, searchUnits].some((units) => units !== undefined);
  return !otherwise || inputTokens(usage) + usage.output > 0;
}

/** The audio members of a usage; empty if there was no audio. */
export function audioOf(input: number, output: number): Pick<Usage, "audioInput" | "audioOutput"> {
  return { ...(input > 0 ? { audioInput: input } : {}), ...(output > 0 ? { audioOutput: output } : {}) };
}

/** The image members of a usage; empty if there were no images. */
export function imagesOf(input: number, output: number, cacheRead = 0): Pick<Usage, "imageInput" | "imageOutput" | "imageCacheRead"> {
  return {
    ...(input > 0 ? { imageInput: input } : {}),
    ...(output > 0 ? { imageOutput: output } : {}),
    ...(cacheRead > 0 ? { imageCacheRead: cacheRead } : {}),
  };
}

/** The sum of the usage of two answers. */
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

/** Whether the usage is empty, as reported for a stream aborted before its first output. */
export function hasNoCounts(usage: Usage): boolean {
  return inputTokens(usage) + usage.output + (usage.spokenCharacters ?? 0) === 0;
}

export function cacheWriteTokens(usage: Usage): number {
  return usage.cacheWrite + usage.cacheWriteHour;
}

/** No call uses as many tokens; a larger count is a vendor's mistake, which would exhaust budgets and overflow totals. */
const MAX_REPORTED = 1_000_000_000;

/** One month; no file of permitted size plays longer. */
const MAX_SECONDS = 31 * 86_400;

/** The reported token count, or null if it is implausible. */
export function plausibleCount(reported: number | null): number | null {
  return reported !== null && Number.isSafeInteger(reported) && reported >= 0 && reported <= MAX_REPORTED ? reported : null;
}

/** The reported usage, or null if it is implausible. A negative part would make the rest of the call free. */
export function plausibleUsage(reported: Usage | null): Usage | null {
  if (reported === null) return null;
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
  } = reported;
  const parts = [inputUncached, cacheRead, cacheWrite, cacheWriteHour, output, reasoning, audioInput, audioOutput, webSearches];
  if (!(audioSeconds >= 0 && audioSeconds <= MAX_SECONDS && videoSeconds >= 0 && videoSeconds <= MAX_SECONDS)) return null;
  return parts.every((part) => part >= 0) && inputTokens(reported) + output + webSearches <= MAX_REPORTED ? reported : null;
}

export const CHARACTERS_PER_TOKEN = 4;

/** Estimates tokens by characters, to meter calls that ended before the provider reported usage. */
export function estimateTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/** The usage of an aborted stream: what its provider had reported, plus an estimate for `characters` of output since then. */
export function withOutputSince(reported: Usage, characters: number): Usage {
  return characters === 0 ? reported : { ...reported, output: reported.output + estimateTokens(characters), estimated: true };
}
