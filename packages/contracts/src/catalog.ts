import { z } from "zod";
import { pageQuery, recordId, recordName, search } from "./conventions.ts";
import { MODES, mode, model } from "./models.ts";
import { upstreamKey } from "./providers.ts";

const flag = z.boolean().nullable().describe("null: not known");
const prices = model.shape;

export const catalogEntry = z
  .strictObject({
    id: z.string().describe("of the entry, for its address and its import"),
    provider_key: z.string(),
    provider_name: z.string(),
    name: z.string().describe("for people"),
    model_name: z.string().describe("what the provider is sent"),
    mode,
    modes: z.array(mode),
    description: z.string().nullable(),
    context_window: z.number().nullable(),
    max_output_tokens: z.number().nullable(),
    input_cost_per_million_tokens: prices.input_cost_per_million_tokens,
    output_cost_per_million_tokens: prices.output_cost_per_million_tokens,
    cache_read_cost_per_million_tokens: prices.cache_read_cost_per_million_tokens,
    cache_write_cost_per_million_tokens: prices.cache_write_cost_per_million_tokens,
    cache_write_hour_cost_per_million_tokens: prices.cache_write_hour_cost_per_million_tokens,
    audio_input_cost_per_million_tokens: prices.audio_input_cost_per_million_tokens,
    audio_output_cost_per_million_tokens: prices.audio_output_cost_per_million_tokens,
    web_search_cost_per_thousand: prices.web_search_cost_per_thousand,
    search_unit_cost_per_thousand: prices.search_unit_cost_per_thousand,
    price_tiers: prices.price_tiers,
    price_changes: prices.price_changes,
    audio_input_cost_per_second: prices.audio_input_cost_per_second,
    image_input_cost_per_million_tokens: prices.image_input_cost_per_million_tokens,
    image_output_cost_per_million_tokens: prices.image_output_cost_per_million_tokens,
    image_cache_read_cost_per_million_tokens: prices.image_cache_read_cost_per_million_tokens,
    video_output_cost_per_million_tokens: prices.video_output_cost_per_million_tokens,
    supports_vision: flag,
    supports_tools: flag,
    supports_file_uploads: flag,
    supports_streaming: flag,
    supports_system_turns: flag.describe(
      "whether it accepts system messages inside a conversation; null: unknown, or not applicable to its format",
    ),
    supports_sampling: flag.describe("temperature, top_p and top_k"),
  })
  .meta({ id: "CatalogEntry" });

export const catalogQuery = z.strictObject({
  ...pageQuery.shape,
  search,
  provider_key: z.string().max(63).optional(),
  mode: z.enum(MODES).optional(),
});

export const catalogImport = z
  .strictObject({
    name: recordName.optional().describe("what callers put in `model`; default: the entry's model_name"),
    enabled: z.boolean().optional(),
    group_ids: z.array(recordId).max(1000).optional().describe("resource groups to grant it to"),
    api_key: upstreamKey.optional().describe("write-only; of the model, instead of its provider's"),
  })
  .meta({ id: "CatalogImport" });

export type CatalogEntry = z.output<typeof catalogEntry>;
export type CatalogQuery = z.output<typeof catalogQuery>;
export type CatalogImport = z.output<typeof catalogImport>;
