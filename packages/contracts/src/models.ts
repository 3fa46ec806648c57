import { z } from "zod";
import { description, httpUrl, pageQuery, recordId, search, timestamp } from "./conventions.ts";
import { upstreamKey } from "./providers.ts";

export const MODES = ["chat", "embedding", "responses", "completion"] as const;
export const mode = z.enum(MODES);

const modes = z.array(mode).min(1).max(MODES.length).refine((all) => new Set(all).size === all.length, "must name each mode once");
const modelName = z.string().trim().min(1).max(200);
// The table holds whole micro-dollars, so a finer price would be rounded without anyone being told.
const price = z
  .number()
  .min(0)
  .max(1_000_000)
  .refine((usd) => Math.abs(usd * 1_000_000 - Math.round(usd * 1_000_000)) < 1e-3, "must have at most 6 decimals")
  .nullable()
  .describe("US dollars per million tokens; null: unpriced, which is not free");
const count = z.number().int().min(1).max(1_000_000_000_000).nullable();

const written = {
  modes: modes.optional(),
  mode: mode.optional().describe("the first of modes"),
  enabled: z.boolean().optional(),
  description: description.optional(),
  base_url: httpUrl.nullable().optional().describe("instead of the provider's"),
  api_key: upstreamKey.nullable().optional().describe("write-only, instead of the provider's; null takes it away"),
  default_temperature: z.number().min(0).max(2).nullable().optional(),
  default_max_tokens: count.optional(),
  system_prompt: z.string().max(100_000).nullable().optional(),
  input_cost_per_million_tokens: price.optional(),
  output_cost_per_million_tokens: price.optional(),
  cache_read_cost_per_million_tokens: price.optional(),
  cache_write_cost_per_million_tokens: price.optional(),
  context_window: count.optional(),
  max_output_tokens: count.optional(),
  supports_vision: z.boolean().optional(),
  supports_tools: z.boolean().optional(),
  supports_file_uploads: z.boolean().optional(),
  supports_streaming: z.boolean().optional(),
  rate_limit_rpm: count.optional().describe("requests a minute over all groups"),
  rate_limit_tpm: count.optional().describe("tokens a minute over all groups"),
  max_concurrent_requests: count.optional(),
  residency_region: z.string().min(1).max(100).nullable().optional(),
  icon_url: httpUrl.nullable().optional(),
};

export const modelCreate = z
  .strictObject({
    name: modelName.describe("what callers put in `model`; unique in the tenant"),
    model_name: modelName.optional().describe("what the provider is sent; the name when left out"),
    provider: z.string().min(1).max(63).describe("provider_key of its provider"),
    ...written,
    group_ids: z.array(recordId).max(1000).optional().describe("resource groups to grant it to"),
  })
  .meta({ id: "ModelCreate" });

export const modelUpdate = z
  .strictObject({ name: modelName.optional(), model_name: modelName.optional(), provider: z.string().min(1).max(63).optional(), ...written })
  .meta({ id: "ModelUpdate" });

const money = z.number().nullable();
const number = z.number().nullable();

export const model = z
  .strictObject({
    id: recordId.describe("gateway model id"),
    tenant_id: z.string(),
    name: z.string(),
    model_name: z.string(),
    provider: z.string().describe("provider_key"),
    provider_id: recordId,
    mode,
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
    context_window: number,
    max_output_tokens: number,
    supports_vision: z.boolean(),
    supports_tools: z.boolean(),
    supports_file_uploads: z.boolean(),
    supports_streaming: z.boolean(),
    rate_limit_rpm: number,
    rate_limit_tpm: number,
    max_concurrent_requests: number,
    residency_region: z.string().nullable(),
    icon_url: z.string().nullable(),
    group_ids: z.array(recordId).describe("resource groups it is bound to directly"),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "Model" });

export const modelQuery = z.strictObject({
  ...pageQuery.shape,
  search,
  mode: z.enum([...MODES, "routing"]).optional(),
  provider_key: z.string().max(63).optional(),
});

export type Model = z.output<typeof model>;
export type ModelCreate = z.output<typeof modelCreate>;
export type ModelUpdate = z.output<typeof modelUpdate>;
export type ModelQuery = z.output<typeof modelQuery>;
