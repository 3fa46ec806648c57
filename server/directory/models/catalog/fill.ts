import type { CatalogEntry } from "@gatehouse/contracts/catalog";
import type { ModelCreate } from "@gatehouse/contracts/models";
import type { ProviderRow } from "../../../store/models/providers.ts";
import { TOKEN_PRICE_MEMBERS } from "../price-columns.ts";
import { catalogFacts, type CatalogLookup } from "./catalog.ts";

/** Prices for tokens of one kind, which supplement the general token prices and mean nothing without them. */
const KIND_PRICES = [
  "image_input_cost_per_million_tokens",
  "image_output_cost_per_million_tokens",
  "image_cache_read_cost_per_million_tokens",
  "video_output_cost_per_million_tokens",
] as const;

const FACTS = [
  "description",
  "context_window",
  "max_output_tokens",
  "supports_vision",
  "supports_tools",
  "supports_file_uploads",
  "supports_streaming",
  "supports_system_turns",
  "supports_sampling",
] as const;

/** The body for a new model, completed with what the catalog knows about it. */
export async function filledFromCatalog(body: ModelCreate, provider: ProviderRow, now: Date): Promise<ModelCreate> {
  const entry = await catalogFacts(provider, body.model_name === undefined ? [body.name] : [body.model_name, body.name], now);
  return entry === null ? body : filledFrom(entry, body);
}

/** Token prices are filled in all or none: mixing the admin's with the vendor's would give a price list that nobody has. */
export function filledFrom(entry: CatalogEntry, body: ModelCreate): ModelCreate {
  const facts: Partial<ModelCreate> = {};
  for (const member of FACTS) if (entry[member] !== null) Object.assign(facts, { [member]: entry[member] });
  if (body.mode === undefined && body.modes === undefined) facts.modes = entry.modes;
  if (TOKEN_PRICE_MEMBERS.every((member) => body[member] === undefined)) Object.assign(facts, pricesOf(entry));
  if (entry.audio_input_cost_per_second !== null) facts.audio_input_cost_per_second = entry.audio_input_cost_per_second;
  if (entry.web_search_cost_per_thousand !== null) facts.web_search_cost_per_thousand = entry.web_search_cost_per_thousand;
  return { ...facts, ...body };
}

function pricesOf(entry: CatalogEntry): Partial<ModelCreate> {
  const kinds = KIND_PRICES.filter((member) => entry[member] !== null);
  return Object.fromEntries([...TOKEN_PRICE_MEMBERS, ...kinds].map((member) => [member, entry[member]]));
}

/** The members with which the catalog would complete a model of this name and these given members; null if the catalog does not know it. */
export async function catalogMembers(lookup: CatalogLookup, name: string, given: object, now: Date): Promise<object | null> {
  const entry = await catalogFacts(lookup, [name], now);
  if (entry === null) return null;
  const filled = Object.entries(filledFrom(entry, { provider: lookup.provider_key, enabled: true, ...given, name }));
  const hasValue = (value: unknown): boolean => value !== null && !(Array.isArray(value) && value.length === 0);
  const own = new Set(["name", "provider", "enabled", ...Object.keys(given)]);
  return Object.fromEntries(filled.filter(([member, value]) => hasValue(value) && !own.has(member)));
}
