import { z } from "zod";
import { httpUrl, pageQuery, recordId, recordName, search, timestamp } from "./conventions.ts";

const kind = z.enum(["brave", "tavily", "exa", "searxng"]);
const safeSearch = z.enum(["off", "moderate", "strict"]);
const apiKey = z.string().regex(/^[\x21-\x7e]{1,4096}$/, "must be visible ASCII without spaces");
const price = z
  .number()
  .min(0)
  .max(1000)
  .refine((value) => Math.abs(value * 1_000_000 - Math.round(value * 1_000_000)) < 1e-3, "must have at most 6 decimals");

const written = {
  base_url: httpUrl.optional().describe("the vendor's own when left out; required of searxng, which is a server of one's own"),
  api_key: apiKey.nullable().optional().describe("write-only; required of brave, tavily and exa"),
  price_per_search_usd: price.nullable().optional().describe("what each search costs, on its row and in budgets; null: unknown"),
  safe_search: safeSearch.optional().describe("moderate when left out at creation; groups and callers may ask for more"),
  country: z
    .string()
    .regex(/^[A-Z]{2}$/, "must be a country's two capital letters")
    .nullable()
    .optional(),
  language: z
    .string()
    .regex(/^[a-z]{2}$/, "must be a language's two small letters")
    .nullable()
    .optional(),
  max_results: z.number().int().min(1).max(20).optional().describe("results that a search gives at most; 10 when left out at creation"),
  timeout: z.number().positive().max(60).optional().describe("seconds it may take to answer; 10 when left out at creation"),
  cache_seconds: z
    .number()
    .int()
    .min(0)
    .max(86_400)
    .optional()
    .describe("how long what it found may be given again, within the tenant and at no cost; 0 never; 300 when left out at creation"),
  priority: z.number().int().min(0).max(1000).optional().describe("the lowest is asked first, the next where it fails; 0 when left out"),
  enabled: z.boolean().optional().describe("true when left out at creation"),
};

export const webSearchProviderCreate = z.strictObject({ name: recordName, kind, ...written }).meta({ id: "WebSearchProviderCreate" });
export const webSearchProviderUpdate = z.strictObject({ name: recordName.optional(), ...written }).meta({ id: "WebSearchProviderUpdate" });

export const webSearchProvider = z
  .strictObject({
    id: recordId,
    tenant_id: z.string(),
    name: z.string(),
    kind,
    base_url: z.string(),
    has_api_key: z.boolean(),
    api_key_hint: z.string().nullable(),
    price_per_search_usd: z.number().nullable(),
    safe_search: safeSearch,
    country: z.string().nullable(),
    language: z.string().nullable(),
    max_results: z.number().int(),
    timeout: z.number(),
    cache_seconds: z.number().int(),
    priority: z.number().int(),
    enabled: z.boolean(),
    server_id: z.string().describe("the tool server that searches go through; a server configuration grants it"),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "WebSearchProvider" });

export const webSearchProviderQuery = z.strictObject({ ...pageQuery.shape, search });

export type WebSearchProvider = z.output<typeof webSearchProvider>;
export type WebSearchProviderCreate = z.output<typeof webSearchProviderCreate>;
export type WebSearchProviderUpdate = z.output<typeof webSearchProviderUpdate>;
export type WebSearchProviderQuery = z.output<typeof webSearchProviderQuery>;
