import type { NullableStamp, Stamp, WithDefault } from "./columns.ts";

export interface AssetTable {
  id: string;
  tenant_id: string;
  asset_type: string;
  name: string;
  description: string | null;
  owner: string | null;
  criticality: string | null;
  tags: WithDefault<string[]>;
  endpoint: string | null;
  governance_status: string;
  status: WithDefault<string>;
  source_kind: string | null;
  source_id: string | null;
  synced_at: NullableStamp;
  created_at: Stamp;
  updated_at: Stamp;
}
