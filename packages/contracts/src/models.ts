import { z } from "zod";
import { description, httpUrl, pageQuery, recordId, recordName, search, timestamp, versionedUrl } from "./conventions.ts";
import { maxTokensParameter, upstreamKey } from "./providers.ts";
import { fallbackConditions, routingGroupId } from "./routing-groups.ts";

export const MODES = [
  "chat",
  "embedding",
  "responses",
  "completion",
  "image",
  "audio_speech",
  "audio_transcription",
  "video",
  "moderation",
  "rerank",
  "realtime",
] as const;
export const mode = z.enum(MODES);

const modes = z
  .array(mode)
  .min(1)
  .max(MODES.length)
  .refine((all) => new Set(all).size === all.length, "must name each mode once");
// Prices are stored in whole micro-dollars; a finer price would be rounded silently.
const setPrice = z
  .number()
  .min(0)
  .max(1_000_000)
  .refine((usd) => Math.abs(usd * 1_000_000 - Math.round(usd * 1_000_000)) < 1e-3, "must have at most 6 decimals");
const price = setPrice.nullable().describe("US dollars per million tokens; null: unpriced, which is not free");
const unitPrice = z.number().min(0).max(1_000).nullable();

const pricesSet = {
  input_cost_per_million_tokens: setPrice.optional(),
  output_cost_per_million_tokens: setPrice.optional(),
  cache_read_cost_per_million_tokens: setPrice.optional(),
  cache_write_cost_per_million_tokens: setPrice.optional(),
  cache_write_hour_cost_per_million_tokens: setPrice.optional(),
  audio_input_cost_per_million_tokens: setPrice.optional(),
  audio_output_cost_per_million_tokens: setPrice.optional(),
};

const priceTier = z
  .strictObject({ above_input_tokens: z.number().int().min(1).max(1_000_000_000), ...pricesSet })
  .meta({
    id: "PriceTier",
    description: "Prices of a whole call whose input, cached or not, is longer. A missing price is that of the tier below.",
  });

const differ = <T>(items: readonly T[], key: (item: T) => unknown) => new Set(items.map(key)).size === items.length;
const priceTiers = z
  .array(priceTier)
  .max(10)
  .refine((tiers) => differ(tiers, (tier) => tier.above_input_tokens), "must have a different above_input_tokens each");

const serviceTierPrice = z
  .strictObject({
    service_tier: z
      .string()
      .regex(/^[a-z0-9_.-]{1,50}$/, "must be a lower-case name of at most 50 characters")
      .refine(
        (name) => !["standard", "default", "auto"].includes(name),
        "must be another than the usual one, whose prices are the plain ones",
      ),
    price_factor: z.number().min(0).max(100).optional(),
    is_default: z
      .literal(true)
      .optional()
      .describe("set if the account's vendor may serve requests in this tier that name none; budgets hold its price for them"),
    ...pricesSet,
    price_tiers: priceTiers.optional(),
  })
  .meta({
    id: "ServiceTierPrice",
    description:
      "Prices of calls that their vendor serves in this tier: `priority`, `flex`, `ultrafast`, Anthropic's `fast`, `inference_geo_us`, " +
      "or another that its answers report. A missing price is the plain price times price_factor; without one, times the vendor's usual factor.",
  });
const serviceTierPrices = z
  .array(serviceTierPrice)
  .max(10)
  .refine((all) => differ(all, (one) => one.service_tier), "must have a different service_tier each")
  .refine((all) => all.filter((one) => one.is_default === true).length <= 1, "must have at most one is_default");

const priceChange = z
  .strictObject({
    effective_from: timestamp,
    ...pricesSet,
    price_tiers: priceTiers.optional(),
    service_tier_prices: serviceTierPrices
      .optional()
      .describe("default: those of the model's entries that set no prices, and the tier that is_default, without its prices"),
  })
  .meta({
    id: "PriceChange",
    description: "Prices that replace all others, tiers included, from a given time on. A missing price is unpriced.",
  });
const priceChanges = z
  .array(priceChange)
  .max(50)
  .refine((changes) => differ(changes, (change) => Date.parse(change.effective_from)), "must have a different effective_from each");

const token = z.string().trim().min(1).max(50);
const setUnitPrice = z.number().min(0).max(1_000);
const imagePrice = z
  .strictObject({ quality: token.optional(), size: token.optional(), usd: setUnitPrice })
  .meta({ id: "ImagePrice", description: "US dollars for one image of a quality and size; a missing member matches all." });
const videoPrice = z
  .strictObject({ resolution: token.optional(), usd_per_second: setUnitPrice })
  .meta({ id: "VideoPrice", description: "US dollars for a second of video of a resolution; a missing resolution matches all." });
const vendorTool = z.enum(["file_search", "code_interpreter", "image_generation", "code_execution", "google_maps"]);
export type VendorToolName = z.output<typeof vendorTool>;
const toolPrices = z
  .array(
    z
      .strictObject({ tool: vendorTool, usd_per_thousand: z.number().min(0).max(1_000_000) })
      .meta({
        id: "ToolPrice",
        description: "US dollars for a thousand uses of a tool that the vendor runs; for code, of its containers.",
      }),
  )
  .max(20)
  .refine((prices) => differ(prices, ({ tool }) => tool), "must name each tool once");
const seconds = z.number().positive().max(86_400);
const count = z.number().int().min(1).max(1_000_000_000_000).nullable();

const written = {
  modes: modes.optional(),
  mode: mode.optional().describe("the first of modes"),
  enabled: z.boolean().optional(),
  description: description.optional(),
  base_url: versionedUrl.nullable().optional().describe("instead of the provider's"),
  api_key: upstreamKey.nullable().optional().describe("write-only, instead of the provider's; null removes it"),
  default_temperature: z.number().min(0).max(2).nullable().optional(),
  default_max_tokens: count.optional(),
  system_prompt: z.string().max(100_000).nullable().optional(),
  input_cost_per_million_tokens: price.optional(),
  output_cost_per_million_tokens: price.optional(),
  cache_read_cost_per_million_tokens: price.optional(),
  cache_write_cost_per_million_tokens: price.optional(),
  cache_write_hour_cost_per_million_tokens: price.optional().describe("for cache writes kept for an hour; null: twice the input price"),
  audio_input_cost_per_million_tokens: price
    .optional()
    .describe("for audio tokens reported by the provider, like the next one; null: as other tokens"),
  audio_output_cost_per_million_tokens: price.optional(),
  web_search_cost_per_thousand: unitPrice
    .optional()
    .describe("US dollars per thousand searches with the vendor's own web search; null: unpriced"),
  search_unit_cost_per_thousand: unitPrice
    .optional()
    .describe(
      "US dollars per thousand search units of reranking, each a query over up to 100 documents; null: tokens read are billed as input",
    ),
  batch_price_factor: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .optional()
    .describe("fraction of its prices that a line in the provider's own batch costs; null: one half"),
  price_tiers: priceTiers.optional().describe("higher prices for long prompts"),
  service_tier_prices: serviceTierPrices.optional().describe("for calls that their vendor serves faster or later than usual"),
  price_changes: priceChanges.optional().describe("future prices; those already in force become the plain prices when the model is saved"),
  image_cost: unitPrice.optional().describe("US dollars per image; null: unpriced, as the other media prices"),
  audio_input_cost_per_second: unitPrice.optional(),
  audio_output_cost_per_million_characters: unitPrice.optional(),
  video_cost_per_second: unitPrice.optional(),
  image_input_cost_per_million_tokens: price
    .optional()
    .describe("for picture tokens reported by the provider, like the three that follow; null: as other tokens"),
  image_output_cost_per_million_tokens: price.optional(),
  image_cache_read_cost_per_million_tokens: price.optional(),
  video_output_cost_per_million_tokens: price.optional(),
  image_prices: z.array(imagePrice).max(50).optional().describe("checked before image_cost: the first that matches the request"),
  video_prices: z.array(videoPrice).max(50).optional().describe("checked before video_cost_per_second: the first that matches"),
  tool_prices: toolPrices
    .optional()
    .describe("fees of the vendor's own tools other than web search; a tool that is not listed costs the vendor's usual fee"),
  supported_image_qualities: z.array(token).max(50).optional().describe("empty: no restriction, as in the other two lists"),
  supported_video_resolutions: z.array(token).max(50).optional(),
  supported_video_durations: z.array(seconds).max(50).optional().describe("seconds"),
  max_video_duration_seconds: seconds.nullable().optional(),
  context_window: count.optional(),
  max_output_tokens: count.optional(),
  supports_vision: z.boolean().optional(),
  supports_tools: z.boolean().optional(),
  supports_file_uploads: z.boolean().optional(),
  supports_streaming: z.boolean().optional(),
  supports_system_turns: z
    .boolean()
    .nullable()
    .optional()
    .describe("whether it accepts system messages inside a conversation (Anthropic's format); null: decided by the catalog, like the next"),
  supports_sampling: z.boolean().nullable().optional().describe("whether it accepts temperature, top_p and top_k"),
  max_tokens_parameter: maxTokensParameter.nullable().optional().describe("instead of the provider's"),
  rate_limit_rpm: count.optional().describe("requests a minute over all groups"),
  rate_limit_tpm: count.optional().describe("tokens a minute over all groups"),
  max_concurrent_requests: count.optional(),
  residency_region: z.string().min(1).max(100).nullable().optional(),
  routing_group_id: routingGroupId.nullable().optional().describe("routing group of which it is a member; null removes it"),
  routing_weight: z
    .number()
    .int()
    .min(0)
    .max(1_000_000)
    .optional()
    .describe("share of the group's calls; 0: only if no other member can serve; default: 1"),
  fallback_on: fallbackConditions
    .optional()
    .describe(
      "when it takes over calls from other members of its routing group: failure (they cannot serve them), context_window (the request is too " +
        "long for them), content_filter (their provider's filter refused it); default: failure",
    ),
  icon_url: httpUrl.nullable().optional(),
  group_ids: z.array(recordId).max(1000).optional().describe("resource groups it is granted to directly; a change replaces all of them"),
};

export const modelCreate = z
  .strictObject({
    name: recordName.describe("what callers put in `model`; unique in the tenant"),
    model_name: recordName.optional().describe("the model name sent to the provider; default: the name"),
    provider: z
      .string()
      .min(1)
      .max(63)
      .describe("provider_key of its provider; for a known provider the record is created if there is none"),
    ...written,
  })
  .meta({ id: "ModelCreate" });

export const modelUpdate = z
  .strictObject({
    name: recordName.optional(),
    model_name: recordName.optional(),
    provider: z.string().min(1).max(63).optional(),
    ...written,
  })
  .meta({ id: "ModelUpdate" });

export const listedMode = z.enum([...MODES, "routing"]);
const money = z.number().nullable();
const number = z.number().nullable();

export const model = z
  .strictObject({
    id: recordId.describe("gateway model id"),
    tenant_id: z.string(),
    name: z.string(),
    model_name: z.string(),
    provider: z.string().describe("provider_key; `routing` of a routing group's virtual model"),
    provider_id: recordId.nullable().describe("null for a routing group's virtual model"),
    mode: listedMode,
    modes: z.array(mode),
    enabled: z.boolean(),
    description: z.string().nullable(),
    base_url: z.string().nullable(),
    has_api_key: z.boolean().describe("whether it has a key of its own"),
    api_key_hint: z.string().nullable(),
    default_temperature: number,
    default_max_tokens: number,
    system_prompt: z.string().nullable(),
    input_cost_per_million_tokens: money,
    output_cost_per_million_tokens: money,
    cache_read_cost_per_million_tokens: money,
    cache_write_cost_per_million_tokens: money,
    cache_write_hour_cost_per_million_tokens: money,
    audio_input_cost_per_million_tokens: money,
    audio_output_cost_per_million_tokens: money,
    web_search_cost_per_thousand: money,
    search_unit_cost_per_thousand: money,
    batch_price_factor: number,
    price_tiers: z.array(priceTier),
    service_tier_prices: z.array(serviceTierPrice),
    price_changes: z.array(priceChange),
    image_cost: money,
    audio_input_cost_per_second: money,
    audio_output_cost_per_million_characters: money,
    video_cost_per_second: money,
    image_input_cost_per_million_tokens: money,
    image_output_cost_per_million_tokens: money,
    image_cache_read_cost_per_million_tokens: money,
    video_output_cost_per_million_tokens: money,
    image_prices: z.array(imagePrice),
    video_prices: z.array(videoPrice),
    tool_prices: toolPrices,
    supported_image_qualities: z.array(z.string()),
    supported_video_resolutions: z.array(z.string()),
    supported_video_durations: z.array(z.number()),
    max_video_duration_seconds: number,
    context_window: number,
    max_output_tokens: number,
    supports_vision: z.boolean(),
    supports_tools: z.boolean(),
    supports_file_uploads: z.boolean(),
    supports_streaming: z.boolean(),
    supports_system_turns: z.boolean().nullable(),
    supports_sampling: z.boolean().nullable(),
    max_tokens_parameter: maxTokensParameter.nullable(),
    rate_limit_rpm: number,
    rate_limit_tpm: number,
    max_concurrent_requests: number,
    residency_region: z.string().nullable(),
    routing_group_id: z.string().nullable(),
    routing_weight: z.number(),
    fallback_on: fallbackConditions,
    is_healthy: z.boolean().nullable().describe("what the last probe found; null: never probed"),
    health_checked_at: timestamp.nullable(),
    icon_url: z.string().nullable(),
    group_ids: z.array(recordId).describe("resource groups it is bound to directly"),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "Model" });

export const modelQuery = z.strictObject({
  ...pageQuery.shape,
  search,
  mode: listedMode.optional().describe("routing: the virtual models of the routing groups"),
  provider_key: z.string().max(63).optional(),
});

export type Mode = z.output<typeof mode>;
export type PriceTier = z.output<typeof priceTier>;
export type ServiceTierPrice = z.output<typeof serviceTierPrice>;
export type PriceChange = z.output<typeof priceChange>;
export type Model = z.output<typeof model>;
export type ModelCreate = z.output<typeof modelCreate>;
export type ModelUpdate = z.output<typeof modelUpdate>;
export type ModelQuery = z.output<typeof modelQuery>;
