-- Who answers searches of the web for a tenant, in the order of their priority: the next is asked where one fails. The tool
-- server through which callers search is a row of mcp_servers, made with the first of these.
CREATE TABLE web_search_providers (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  name text NOT NULL,
  kind text NOT NULL,
  base_url text NOT NULL,
  api_key_sealed text,
  api_key_hint text,
  -- Dollars; null where nobody said what a search costs.
  price_per_search_usd double precision,
  safe_search text NOT NULL DEFAULT 'moderate',
  country text,
  language text,
  max_results bigint NOT NULL DEFAULT 10,
  timeout double precision NOT NULL DEFAULT 10,
  -- How long a result may be given again; 0 never.
  cache_seconds bigint NOT NULL DEFAULT 300,
  priority bigint NOT NULL DEFAULT 0,
  enabled boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (tenant_id, name)
);

-- Addresses that a caller was given by a search, and so may fetch: as digests of the caller and of the address.
CREATE TABLE web_search_addresses (
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  principal text NOT NULL,
  address text NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, principal, address)
);
CREATE INDEX web_search_addresses_expiry ON web_search_addresses (expires_at);
