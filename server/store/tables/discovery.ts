import type { JsonWithDefault, NullableStamp, Stamp, WithDefault } from "./columns.ts";

export interface CollectorKeyTable {
  id: string;
  tenant_id: string;
  collector_id: string;
  public_key: string;
  trust_tier: string;
  device_id: string | null;
  last_seen: NullableStamp;
  revoked_at: NullableStamp;
  created_at: Stamp;
}

export interface DiscoveryDeviceTable {
  tenant_id: string;
  device_id: string;
  device_name: string | null;
  collector_id: string;
  first_seen: Stamp;
  last_seen: Stamp;
}

export interface DiscoveredAssetTable {
  id: string;
  tenant_id: string;
  identity: string;
  source: string;
  asset_type: string;
  device_id: string | null;
  name: string;
  version: string | null;
  location_hash: string | null;
  config_digest: string | null;
  endpoints: WithDefault<string[]>;
  attributes: JsonWithDefault<Record<string, unknown>>;
  status: WithDefault<string>;
  governance_status: string;
  governance_reason: string;
  dismissed_reason: string | null;
  dismissed_digest: string | null;
  onboarded_at: NullableStamp;
  first_seen: Stamp;
  last_seen: Stamp;
}
