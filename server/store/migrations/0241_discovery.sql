-- What there is of AI beside the gateway: who may report it, what was reported, and the registry of all that is known.

-- Public keys of collectors, 32 bytes in base64. A key of the low tier speaks for one device: the first it names.
CREATE TABLE collector_keys (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  collector_id text NOT NULL,
  public_key text NOT NULL,
  trust_tier text NOT NULL,
  device_id text,
  last_seen timestamptz,
  revoked_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (tenant_id, public_key)
);

-- What was taken already, so that nothing is taken twice: requests by their nonce, events by their id.
CREATE TABLE discovery_nonces (
  key_id uuid NOT NULL REFERENCES collector_keys ON DELETE CASCADE,
  nonce text NOT NULL,
  seen_at timestamptz NOT NULL,
  PRIMARY KEY (key_id, nonce)
);
CREATE INDEX discovery_nonces_seen ON discovery_nonces (seen_at);
CREATE TABLE discovery_events (
  key_id uuid NOT NULL REFERENCES collector_keys ON DELETE CASCADE,
  event_id text NOT NULL,
  seen_at timestamptz NOT NULL,
  PRIMARY KEY (key_id, event_id)
);
CREATE INDEX discovery_events_seen ON discovery_events (seen_at);

-- A device belongs to the collector that named it first.
CREATE TABLE discovery_devices (
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  device_id text NOT NULL,
  device_name text,
  collector_id text NOT NULL,
  first_seen timestamptz NOT NULL,
  last_seen timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, device_id)
);

-- identity: of what makes it the same when it is seen again. governance_status is worked out from the other columns and the
-- records of the tenant; dismissed_digest is the configuration a dismissal was for.
CREATE TABLE discovered_assets (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  identity text NOT NULL,
  source text NOT NULL,
  asset_type text NOT NULL,
  device_id text,
  name text NOT NULL,
  version text,
  location_hash text,
  config_digest text,
  endpoints text[] NOT NULL DEFAULT '{}',
  attributes jsonb NOT NULL DEFAULT '{}',
  status text NOT NULL DEFAULT 'active',
  governance_status text NOT NULL,
  governance_reason text NOT NULL,
  dismissed_reason text,
  dismissed_digest text,
  onboarded_at timestamptz,
  first_seen timestamptz NOT NULL,
  last_seen timestamptz NOT NULL,
  UNIQUE (tenant_id, identity)
);
CREATE INDEX discovered_assets_list ON discovered_assets (tenant_id, last_seen DESC, id);
CREATE INDEX discovered_assets_device ON discovered_assets (tenant_id, device_id);

-- Where else a tenant's clients reach the gateway, beside the address it knows of itself.
CREATE TABLE discovery_settings (
  tenant_id text PRIMARY KEY REFERENCES tenants ON DELETE CASCADE,
  gateway_origins text[] NOT NULL DEFAULT '{}',
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- The registry. source_kind and source_id name the record or finding an entry was synced from; both are null of one made by hand.
CREATE TABLE assets (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  asset_type text NOT NULL,
  name text NOT NULL,
  description text,
  owner text,
  criticality text,
  tags text[] NOT NULL DEFAULT '{}',
  endpoint text,
  governance_status text NOT NULL,
  status text NOT NULL DEFAULT 'active',
  source_kind text,
  source_id text,
  synced_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (tenant_id, source_kind, source_id)
);
CREATE INDEX assets_list ON assets (tenant_id, name, id);
