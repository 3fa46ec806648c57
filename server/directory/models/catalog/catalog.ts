import type { CatalogEntry, CatalogQuery } from "@gatehouse/contracts/catalog";
import type { Mode } from "@gatehouse/contracts/models";
import { providerFormat } from "@gatehouse/contracts/provider-formats";
import type { ModelInfo, Provider as Vendor } from "@pydantic/genai-prices";
import type { Page, Paged } from "../../../store/records/paging.ts";
import { notFound } from "../../writes/records.ts";
import { catalogPrices } from "./catalog-prices.ts";
import { CATALOG_PROVIDERS, catalogProvider, type CatalogProvider } from "./known-providers.ts";
import { capabilitiesByName, modesByName, outputLimitByName, searchPriceByName } from "./model-facts.ts";

/** A known provider's model without its prices, which depend on the day. */
interface Listed {
  readonly id: string;
  readonly provider: CatalogProvider;
  readonly modelName: string;
  readonly info: ModelInfo;
  readonly modes: readonly Mode[];
}

type Prices = typeof import("@pydantic/genai-prices");

interface Loaded {
  readonly prices: Prices;
  readonly listed: readonly Listed[];
  readonly byId: ReadonlyMap<string, Listed>;
}

let loading: Promise<Loaded> | undefined;

/** Loaded on first use, because it is megabytes of data that neither startup nor calls need. It is bundled, never fetched. */
function load(): Promise<Loaded> {
  loading ??= import("@pydantic/genai-prices").then((prices) => {
    const listed = CATALOG_PROVIDERS.flatMap((provider) => modelsOf(prices, provider)).sort((a, b) => (a.id < b.id ? -1 : 1));
    return { prices, listed, byId: new Map(listed.map((one) => [one.id, one])) };
  });
  return loading;
}

function modelsOf(prices: Prices, provider: CatalogProvider): Listed[] {
  const vendor = vendorOf(prices, provider.vendor);
  return (vendor?.models ?? []).flatMap((info) => listedModel(provider, info) ?? []);
}

function vendorOf(prices: Prices, id: string | null): Vendor | undefined {
  return id === null ? undefined : prices.findProvider({ providerId: id });
}

function listedModel(provider: CatalogProvider, info: ModelInfo): Listed | null {
  if (provider.serves?.test(info.id) === false) return null;
  const modes = modesByName(provider.vendor ?? "", info.id);
  if (modes === null) return null;
  // "regional." stands for any region's prefix; without it, this is the model's own name.
  const modelName = info.id.replace(/^regional\./, "");
  // A slash would end the path segment that holds the ID.
  return { id: `${provider.provider_key}:${info.id.replaceAll("/", "--")}`, provider, modelName, info, modes };
}

function entryOf({ id, provider, modelName, info, modes }: Listed, now: Date): CatalogEntry {
  const [mode = "chat"] = modes;
  const text = mode === "chat" || mode === "responses" || mode === "completion" || mode === "embedding";
  const priced = catalogPrices(info, !text, now);
  return {
    id,
    provider_key: provider.provider_key,
    provider_name: provider.name,
    name: info.name ?? modelName,
    model_name: modelName,
    mode,
    modes: [...modes],
    description: info.description?.trim() || null,
    context_window: info.context_window ?? null,
    max_output_tokens: outputLimitOf(info, modes),
    ...priced,
    web_search_cost_per_thousand:
      priced.web_search_cost_per_thousand ?? (mode === "chat" && provider.vendor === "google" ? searchPriceByName(modelName) : null),
    // The price catalog has no search units.
    search_unit_cost_per_thousand: null,
    ...capabilitiesByName(info.id, modes),
  };
}

/** Capped at the context window if that is smaller. */
function outputLimitOf(info: ModelInfo, modes: readonly Mode[]): number | null {
  const limit = outputLimitByName(info.id, modes);
  return limit === null ? null : Math.min(limit, info.context_window ?? limit);
}

/** Ordered by ID. `now` is the time for which prices are shown. */
export async function listCatalog(filters: CatalogQuery, page: Page, now: Date): Promise<Paged<CatalogEntry>> {
  const { listed } = await load();
  const wanted = filters.search?.toLowerCase();
  const wantedProvider = filters.provider_key === undefined ? undefined : (catalogProvider(filters.provider_key)?.provider_key ?? null);
  const found = listed.filter(
    ({ id, provider, info, modes }) =>
      (wantedProvider === undefined || provider.provider_key === wantedProvider) &&
      (filters.mode === undefined || modes.includes(filters.mode)) &&
      (wanted === undefined || [id, info.id, info.name ?? ""].some((text) => text.toLowerCase().includes(wanted))),
  );
  return { items: found.slice(page.offset, page.offset + page.limit).map((one) => entryOf(one, now)), total: found.length };
}

/** Throws a `not_found` refusal. */
export async function findCatalogEntry(id: string, now: Date): Promise<CatalogEntry> {
  const found = (await load()).byId.get(id);
  if (found === undefined) throw notFound("catalog entry");
  return entryOf(found, now);
}

/** The properties of a model's provider that determine whose prices apply. */
export interface CatalogLookup {
  readonly provider_key: string;
  readonly api_format: string;
  readonly base_url: string | null;
}

// Names that no other vendor uses for its own models, so that they mean the same wherever served.
const MAKERS: readonly (readonly [RegExp, string])[] = [
  [/^(gpt-\d|o\d|text-embedding-)/, "openai"],
  [/^claude-/, "anthropic"],
  [/^gemini-/, "gemini"],
];

// Covers Amazon's own names only; a customer's inference profile does not reveal its model.
const BEDROCK_ADDRESS = /^arn:aws[\w-]*:bedrock:[\w-]*:\d*:(?:foundation-model|inference-profile)\//;

/**
 * The catalog's facts about a model by its name at the provider: from the provider's own entry or, if the provider is not
 * in the catalog, from the entry of the model's maker. Null for an unknown model.
 */
export async function catalogFacts(lookup: CatalogLookup, modelNames: readonly string[], now: Date): Promise<CatalogEntry | null> {
  const format = providerFormat(lookup.api_format)?.catalog ?? "maker";
  if (format === "none") return null;
  const { prices } = await load();
  const byAddress = lookup.base_url === null ? undefined : prices.findProvider({ providerApiUrl: lookup.base_url })?.id;
  // A vendor may serve different models by format: Google serves Claude only on Vertex AI.
  const atAddress = CATALOG_PROVIDERS.filter(({ vendor }) => vendor !== null && vendor === byAddress);
  const known =
    catalogProvider(lookup.provider_key) ??
    atAddress.find(({ api_format }) => api_format === lookup.api_format) ??
    atAddress[0] ??
    (format === "maker" ? undefined : catalogProvider(format.provider));
  // A name with spaces is a display name chosen by the tenant, whose first word may resemble a vendor's model.
  for (const given of modelNames.filter((one) => !/\s/.test(one))) {
    const name = given.replace(BEDROCK_ADDRESS, "");
    const provider = known ?? catalogProvider(MAKERS.find(([pattern]) => pattern.test(name))?.[1] ?? "");
    const vendor = provider === undefined ? undefined : vendorOf(prices, provider.vendor);
    if (provider === undefined || vendor === undefined) continue;
    const info = prices.calcPrice({}, name, { provider: vendor })?.model;
    const listed = info === undefined ? null : listedModel(provider, info);
    if (listed !== null) return entryOf(listed, now);
  }
  return null;
}
