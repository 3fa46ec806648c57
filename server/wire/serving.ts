import { isObject, type JsonObject, type JsonValue } from "../kernel/json-value.ts";
import type { ServiceTier, Usage } from "./usage.ts";

/** The usual way, which has the plain prices: as vendors call it, and what is paid for beforehand or elsewhere. */
const USUAL: ReadonlySet<string> = new Set(["default", "standard", "on_demand", "scale", "reserved", "batch", "provisioned_throughput"]);
/** Says that somebody else decides. */
const UNDECIDED: ReadonlySet<string> = new Set(["", "auto", "unspecified", "standard_only", "traffic_type_unspecified"]);
/** A model that runs wherever there is room has the plain prices. */
const ANYWHERE = "global";
/** No vendor's name of one is longer, and it gets into the record. */
const NAME = /^[a-z0-9_.-]{1,50}$/;

/** One name for each: vendors write them in two cases, and some prefix them. */
function tierOf(said: unknown): string | null {
  const name = typeof said === "string" ? said.toLowerCase().replace(/^(?:service_tier_|on_demand_)/, "") : "";
  if (UNDECIDED.has(name) || !NAME.test(name)) return null;
  return USUAL.has(name) ? "standard" : name;
}

function geoOf(said: unknown): string | null {
  const name = typeof said === "string" ? said.toLowerCase() : "";
  if (!NAME.test(name)) return null;
  return name === "not_available" ? ANYWHERE : name;
}

/** OpenAI's two names of one tier. */
function openAiTier(said: unknown): string | null {
  const tier = tierOf(said);
  return tier === "fast" ? "priority" : tier;
}

/** What a request asks for, of any format. */
export function servingAsked(body: { readonly [name: string]: unknown }): ServiceTier {
  const tier = openAiTier(body.service_tier ?? body.serviceTier);
  const usual = tier === null || tier === "standard";
  return { tier: usual && isFast(body.speed) ? "fast" : tier, geo: geoOf(body.inference_geo) };
}

/** Where a request wants to be processed, as it says it; null where it leaves that to the vendor's settings. */
export const regionAsked = (body: JsonObject): JsonValue => body.inference_geo ?? null;

/** What an answer in one of OpenAI's formats says of it, beside its usage. */
export const servingByOpenAi = (tier: unknown): ServiceTier => ({ tier: openAiTier(tier), geo: null });

export function servedByOpenAi(usage: Usage | null, tier: unknown): Usage | null {
  return served(usage, servingByOpenAi(tier));
}

/**
 * Of Anthropic's format, which says it in the usage. `priority` is capacity paid for beforehand there, and dearer at others that speak
 * its format, whose callers then asked for it.
 */
export function servedByMessages(usage: Usage | null, said: { readonly [name: string]: unknown }): Usage | null {
  const tier = tierOf(said.service_tier);
  const usual = tier === "standard" || (tier === null && tierOf(said.speed) === "standard");
  return served(usage, { tier: isFast(said.speed) ? "fast" : usual ? "standard" : null, geo: geoOf(said.inference_geo) });
}

/** Of Google's, which says it in the usage as well. */
export function servedByGoogle(usage: Usage | null, tier: unknown): Usage | null {
  return served(usage, { tier: tierOf(tier), geo: null });
}

/** Of Bedrock's, beside the usage. */
export function servedByBedrock(usage: Usage | null, tier: unknown): Usage | null {
  return served(usage, { tier: isObject(tier) ? tierOf(tier.type) : null, geo: null });
}

/** What the answer left unsaid is as it was asked for. */
export function servedAsAsked(usage: Usage, asked: ServiceTier | undefined): Usage {
  if (asked === undefined || (asked.tier === null && asked.geo === null)) return usage;
  return { ...usage, serving: { tier: usage.serving?.tier ?? asked.tier, geo: usage.serving?.geo ?? asked.geo } };
}

/** What may have a price of its own, by the names that models have prices for. */
export function tiersServed(serving: ServiceTier | undefined): string[] {
  const { tier = null, geo = null } = serving ?? {};
  return [...(tier === null || tier === "standard" ? [] : [tier]), ...(geo === null || geo === ANYWHERE ? [] : [`inference_geo_${geo}`])];
}

function served(usage: Usage | null, serving: ServiceTier): Usage | null {
  return usage === null || (serving.tier === null && serving.geo === null) ? usage : { ...usage, serving };
}

function isFast(speed: unknown): boolean {
  return tierOf(speed) === "fast";
}
