import type { Stamp, WithDefault } from "./columns.ts";

export interface WebSearchProviderTable {
  id: string;
  tenant_id: string;
  name: string;
  kind: string;
  base_url: string;
  api_key_sealed: string | null;
  api_key_hint: string | null;
  price_per_search_usd: number | null;
  safe_search: WithDefault<string>;
  country: string | null;
  language: string | null;
  max_results: WithDefault<number>;
  /** Seconds. */
  timeout: WithDefault<number>;
  cache_seconds: WithDefault<number>;
  priority: WithDefault<number>;
  enabled: WithDefault<boolean>;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface WebSearchAddressTable {
  tenant_id: string;
  /** SHA-256, hex, like the address. */
  principal: string;
  address: string;
  expires_at: Stamp;
}
