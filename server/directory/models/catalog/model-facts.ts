import type { Mode } from "@gatehouse/contracts/models";

/** Facts derived from model names, which the price catalog does not contain. */

export interface Capabilities {
  readonly supports_vision: boolean | null;
  readonly supports_tools: boolean | null;
  readonly supports_file_uploads: boolean | null;
  readonly supports_streaming: boolean | null;
  readonly supports_system_turns: boolean | null;
  readonly supports_sampling: boolean | null;
}

// Model types that the gateway has no surface for, and names that are patterns rather than models.
const UNSERVED = /realtime|-live|ocr|voice|sonic|computer-use|^ft:|\.ft-/;

const MODES_BY_NAME: readonly (readonly [RegExp, readonly Mode[]])[] = [
  [/rerank/, ["rerank"]],
  [/embed|^voyage-|(^|\/)(bge|e5|gte)-/, ["embedding"]],
  [/(^|\/)(omni-)?moderation/, ["moderation"]],
  [/(^|\/)(gpt-image|dall-e|imagen|flux|stable-diffusion)/, ["image"]],
  [/(^|\/)(veo|sora)-|nova-reel/, ["video"]],
  [/transcribe|whisper/, ["audio_transcription"]],
  [/(^|[/-])tts(-|$)/, ["audio_speech"]],
  [/^(ada|babbage|curie|davinci|text-davinci-00\d|gpt-3\.5-turbo-instruct)$/, ["completion"]],
];

// OpenAI's own models: current families answer on both APIs, some reasoning models only on Responses.
const RESPONSES_ONLY = /^(o1-pro|o3-pro|gpt-[5-9][\d.]*-pro|.*codex.*|.*deep-research.*)$/;
const RESPONSES_TOO = /^(gpt-4o|gpt-4\.1|gpt-[5-9]|o1|o3|o4)/;

/** The main mode comes first; null for a model type that is not served. */
export function modesByName(vendor: string, model: string): readonly Mode[] | null {
  const name = model.toLowerCase();
  if (UNSERVED.test(name)) return null;
  const found = MODES_BY_NAME.find(([pattern]) => pattern.test(name))?.[1];
  if (found !== undefined) return found;
  if (vendor !== "openai") return ["chat"];
  if (RESPONSES_ONLY.test(name)) return ["responses"];
  return RESPONSES_TOO.test(name) && !name.includes("audio") ? ["chat", "responses"] : ["chat"];
}

const UNKNOWN: Capabilities = {
  supports_vision: null,
  supports_tools: null,
  supports_file_uploads: null,
  supports_streaming: null,
  supports_system_turns: null,
  supports_sampling: null,
};
const ALL = { supports_vision: true, supports_tools: true, supports_file_uploads: true };

// The name may follow a vendor prefix ("anthropic/claude...", "us.anthropic.claude...").
const CAPABILITIES: readonly (readonly [RegExp, Partial<Capabilities>])[] = [
  [/claude-(3-[57]-sonnet|3\.[57]-sonnet|(haiku|sonnet|opus|fable)-[4-9]|4)/, ALL],
  [/claude-3-(opus|sonnet|haiku)/, { supports_vision: true, supports_tools: true }],
  [/gpt-(audio|.*(audio|image|search|chat|oss))/, {}],
  [/gpt-(4o|4\.1|[5-9])/, ALL],
  [/(^|\/)(o1|o3|o4-mini)$/, ALL],
  [/(^|\/)o3-mini/, { supports_vision: false, supports_tools: true }],
  [/(^|\/)gpt-4-turbo/, { supports_vision: true, supports_tools: true }],
  [/(^|\/)(gpt-3\.5-turbo|gpt-4)$/, { supports_vision: false, supports_tools: true }],
  [/gemini-.*(image|omni)/, {}],
  [/gemini-(1\.5|2\.0|2\.5|[3-9])/, ALL],
  [/(^|\/)mistral-(large|medium|small)/, { supports_tools: true }],
  [/(^|\/)pixtral/, { supports_vision: true, supports_tools: true }],
  [/(^|\/)grok-[3-9]/, { supports_tools: true }],
];

export function capabilitiesByName(model: string, modes: readonly Mode[]): Capabilities {
  const mode = modes[0];
  if (mode !== "chat" && mode !== "responses") {
    return {
      ...UNKNOWN,
      supports_tools: false,
      supports_file_uploads: false,
      supports_streaming: mode === "completion" ? true : mode === "embedding" || mode === "moderation" || mode === "rerank" ? false : null,
    };
  }
  const found = CAPABILITIES.find(([pattern]) => pattern.test(model.toLowerCase()))?.[1];
  return { ...UNKNOWN, ...found, ...dialectByName(model), supports_streaming: true };
}

// Claude models that predate system messages within a conversation, and those that accept only default sampling.
const WITHOUT_SYSTEM_TURNS = /claude-(?:instant|v?[123]\b|(?:sonnet|haiku)-4|opus-4(?!-(?:[89]|1\d)\b))/;
const WITHOUT_SAMPLING = /claude-(?:opus-4-(?:[7-9]|1\d)\b|[a-z]+-(?:[5-9]|[1-9]\d)\b)/;

// OpenAI's reasoning-only models accept only default sampling.
const OPENAI_WITHOUT_SAMPLING = /(^|\/)(?:o[134](?:-mini|-pro)?|gpt-5(?:-mini|-nano|-pro|-codex)?)(?:-20\d\d.*)?$/;

/** Normalizes version numbers: others write them with a dot, Anthropic with a dash. */
function claudeName(model: string): string {
  const name = model.toLowerCase();
  return name.includes("claude-") ? name.replaceAll(/(\d)\.(\d)/g, "$1-$2") : name;
}

/** What the name tells about the requests a model accepts; null where it tells nothing. */
export function dialectByName(model: string): Pick<Capabilities, "supports_system_turns" | "supports_sampling"> {
  const name = claudeName(model);
  if (!name.includes("claude-"))
    return { supports_system_turns: null, supports_sampling: OPENAI_WITHOUT_SAMPLING.test(name) ? false : null };
  return { supports_system_turns: !WITHOUT_SYSTEM_TURNS.test(name), supports_sampling: !WITHOUT_SAMPLING.test(name) };
}

// As published by the vendors. The limit of names that match none of these is unknown.
const OUTPUT_LIMITS: readonly (readonly [RegExp, number])[] = [
  [/claude-(?:instant|v?2\b|3-(?:opus|haiku|sonnet))/, 4_096],
  [/claude-3-5-(?:sonnet|haiku)/, 8_192],
  [/claude-(?:3-7-sonnet|sonnet-4(?!-[6-9]\b)|(?:opus|haiku)-4-5\b)/, 64_000],
  [/claude-opus-4(?:-[01])?(?!-?\d{1,2}\b)\b/, 32_000],
  [/(^|\/)gpt-4o(-mini)?(-20\d\d-(?!05-13).*)?$/, 16_384],
  [/(^|\/)gpt-4\.1/, 32_768],
  [/(^|\/)gpt-5(\.1)?(-mini|-nano)?(-20\d\d.*)?$/, 128_000],
  [/(^|\/)(o1|o3|o3-mini|o4-mini)(-20\d\d.*)?$/, 100_000],
  [/(^|\/)(gpt-4-turbo|gpt-3\.5-turbo(-\d{4})?$)/, 4_096],
  [/(^|\/)gpt-4(-0613)?$/, 8_192],
  [/gemini-(1\.5|2\.0)-(pro|flash)(?!.*(image|live|audio))/, 8_192],
  [/gemini-(2\.5|3)-(pro|flash)(?!.*(image|tts|live|audio))/, 65_536],
];

/** The maximum number of tokens in one answer, including reasoning; null if the name does not tell. */
export function outputLimitByName(model: string, modes: readonly Mode[]): number | null {
  if (modes[0] !== "chat" && modes[0] !== "responses") return null;
  const name = claudeName(model);
  return OUTPUT_LIMITS.find(([pattern]) => pattern.test(name))?.[1] ?? null;
}

/**
 * US dollars per thousand Google searches, as published in 2026; null for models without. Up to generation 2 each grounded
 * prompt is billed, from generation 3 each query.
 */
export function searchPriceByName(model: string): number | null {
  const generation = /(?:^|\/)gemini-(\d)/.exec(model.toLowerCase())?.[1];
  return generation === undefined ? null : Number(generation) <= 2 ? 35 : 14;
}
