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
  base_url: httpUrl.optional().describe("default: the vendor's; required for searxng, which is your own server"),
  api_key: apiKey.nullable().optional().describe("write-only; required for brave, tavily and exa"),
  price_per_search_usd: price.nullable().optional().describe("cost of each search, on its row and in budgets; null: unknown"),
  safe_search: safeSearch.optional().describe("default at creation: moderate; groups and callers may use a stricter value"),
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
  max_results: z.number().int().min(1).max(20).optional().describe("maximum number of results per search; default at creation: 10"),
  timeout: z.number().positive().max(60).optional().describe("seconds for the whole answer; default at creation: 10"),
  cache_seconds: z
    .number()
    .int()
    .min(0)
    .max(86_400)
    .optional()
    .describe("seconds for which results are repeated from memory, within the tenant and at no cost; 0: never; default at creation: 300"),
  priority: z.number().int().min(0).max(1000).optional().describe("the lowest is asked first, the next if it fails; default: 0"),
  enabled: z.boolean().optional().describe("default at creation: true"),
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
    server_id: z.string().describe("the tool server for searches; a server configuration grants it"),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "WebSearchProvider" });

export const webSearchProviderQuery = z.strictObject({ ...pageQuery.shape, search });

export type WebSearchProvider = z.output<typeof webSearchProvider>;
export type WebSearchProviderCreate = z.output<typeof webSearchProviderCreate>;
export type WebSearchProviderUpdate = z.output<typeof webSearchProviderUpdate>;
export type WebSearchProviderQuery = z.output<typeof webSearchProviderQuery>;
