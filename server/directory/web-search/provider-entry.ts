import { type MicroUsd, microsFromUsd } from "../../kernel/money.ts";
import { sealContext, type SecretBox } from "../../kernel/secrets.ts";
import type { WebSearchProviderRow } from "../../store/tools/web-search-providers.ts";
import type { SafeSearch } from "./safe-search.ts";

/** A search provider as compiled for calls. */
export interface WebSearchProviderEntry {
  readonly id: string;
  readonly name: string;
  readonly kind: "brave" | "tavily" | "exa" | "searxng";
  /** Without a trailing slash. */
  readonly baseUrl: string;
  /** Decrypted; held only in memory. */
  readonly apiKey: string | null;
  /** Null if no price was set. */
  readonly priceMicros: MicroUsd | null;
  readonly safeSearch: SafeSearch;
  readonly country: string | null;
  readonly language: string | null;
  readonly maxResults: number;
  readonly timeoutMs: number;
  readonly cacheMs: number;
  /** Changes whenever the record does. */
  readonly version: number;
}

export function webSearchProviderEntries(rows: readonly WebSearchProviderRow[], open: SecretBox["openOrNull"]): WebSearchProviderEntry[] {
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    kind: row.kind as WebSearchProviderEntry["kind"],
    baseUrl: row.base_url.replace(/\/+$/, ""),
    apiKey: open(row.api_key_sealed, sealContext("web_search_providers", row.id)),
    priceMicros: row.price_per_search_usd === null ? null : microsFromUsd(row.price_per_search_usd),
    safeSearch: row.safe_search as SafeSearch,
    country: row.country,
    language: row.language,
    maxResults: row.max_results,
    timeoutMs: row.timeout * 1000,
    cacheMs: row.cache_seconds * 1000,
    version: row.updated_at.getTime(),
  }));
}
