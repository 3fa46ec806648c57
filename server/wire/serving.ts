import { isObject, type JsonObject, type JsonValue } from "../kernel/json-value.ts";
import type { ServiceTier, Usage } from "./usage.ts";

/** Vendors' names for service at standard prices, including prepaid capacity. */
const USUAL: ReadonlySet<string> = new Set(["default", "standard", "on_demand", "scale", "reserved", "batch", "provisioned_throughput"]);
/** Values that leave the choice to the vendor. */
const UNDECIDED: ReadonlySet<string> = new Set(["", "auto", "unspecified", "standard_only", "traffic_type_unspecified"]);
/** A model without a fixed region has standard prices. */
const ANYWHERE = "global";
/** Recorded on the audit row, so limited to the form of vendors' names. */
const NAME = /^[a-z0-9_.-]{1,50}$/;

/** Normalizes a tier name: vendors differ in case, and some add prefixes. */
function tierOf(serverTier: unknown): string | null {
  const name = typeof serverTier === "string" ? serverTier.toLowerCase().replace(/^(?:service_tier_|on_demand_)/, "") : "";
  if (UNDECIDED.has(name) || !NAME.test(name)) return null;
  return USUAL.has(name) ? "standard" : name;
}

function geoOf(serverGeo: unknown): string | null {
  const name = typeof serverGeo === "string" ? serverGeo.toLowerCase() : "";
  if (!NAME.test(name)) return null;
  return name === "not_available" ? ANYWHERE : name;
}

/** OpenAI has two names for one tier. */
function openAiTier(reportedTier: unknown): string | null {
  const tier = tierOf(reportedTier);
  return tier === "fast" ? "priority" : tier;
}

/** The service tier and region that a request of any format asks for. */
export function requestedServing(body: { readonly [name: string]: unknown }): ServiceTier {
  const tier = openAiTier(body.service_tier ?? body.serviceTier);
  const usual = tier === null || tier === "standard";
  return { tier: usual && isFast(body.speed) ? "fast" : tier, geo: geoOf(body.inference_geo) };
}

/** The processing region requested; null if left to the vendor's settings. */
export const requestedRegion = (body: JsonObject): JsonValue => body.inference_geo ?? null;

/** The service tier in an answer of OpenAI's formats, which is not part of the usage. */
export const servingByOpenAi = (tier: unknown): ServiceTier => ({ tier: openAiTier(tier), geo: null });

export function servedByOpenAi(usage: Usage | null, tier: unknown): Usage | null {
  return served(usage, servingByOpenAi(tier));
}

/**
 * Anthropic's format reports the tier in the usage. There `priority` is prepaid capacity, but other vendors that use the
 * format charge more for it; their callers have requested it.
 */
export function servedByMessages(usage: Usage | null, servedFields: { readonly [name: string]: unknown }): Usage | null {
  const tier = tierOf(servedFields.service_tier);
  const usual = tier === "standard" || (tier === null && tierOf(servedFields.speed) === "standard");
  return served(usage, { tier: isFast(servedFields.speed) ? "fast" : usual ? "standard" : null, geo: geoOf(servedFields.inference_geo) });
}

/** Google also reports the tier in the usage. */
export function servedByGoogle(usage: Usage | null, tier: unknown): Usage | null {
  return served(usage, { tier: tierOf(tier), geo: null });
}

/** Bedrock reports the tier next to the usage. */
export function servedByBedrock(usage: Usage | null, tier: unknown): Usage | null {
  return served(usage, { tier: isObject(tier) ? tierOf(tier.type) : null, geo: null });
}

/** Fills in what the answer did not report from the request. */
export function withRequestedServing(usage: Usage, requested: ServiceTier | undefined): Usage {
  if (requested === undefined || (requested.tier === null && requested.geo === null)) return usage;
  return { ...usage, serving: { tier: usage.serving?.tier ?? requested.tier, geo: usage.serving?.geo ?? requested.geo } };
}

const REGION = "inference_geo_";

/** Whether a name in models' price records is that of a region. */
export const isRegion = (name: string): boolean => name.startsWith(REGION);

/** The tier and region that may have their own price, by the names used in models' price records. */
export function tiersServed(serving: ServiceTier | undefined): string[] {
  const { tier = null, geo = null } = serving ?? {};
  return [...(tier === null || tier === "standard" ? [] : [tier]), ...(geo === null || geo === ANYWHERE ? [] : [REGION + geo])];
}

function served(usage: Usage | null, serving: ServiceTier): Usage | null {
  return usage === null || (serving.tier === null && serving.geo === null) ? usage : { ...usage, serving };
}

function isFast(speed: unknown): boolean {
  return tierOf(speed) === "fast";
}
