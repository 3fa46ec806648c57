import type { JsonWithDefault, NullableJson, NullableStamp, Stamp, WithDefault } from "./columns.ts";

export interface BaselineEpochTable {
  id: string;
  tenant_id: string;
  ai_system_id: string;
  epoch: number;
  digest: string;
  /** Canonical JSON text. */
  content: string;
  finding_id: string | null;
  created_by: string | null;
  created_at: Stamp;
}

export interface IncidentWindowTable {
  id: string;
  tenant_id: string;
  /** Null for every system of the tenant. */
  ai_system_id: string | null;
  title: string;
  severity: string;
  reason: string | null;
  started_at: Stamp;
  ended_at: NullableStamp;
  finding_id: string | null;
  declared_by: string | null;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface DriftFindingTable {
  id: string;
  tenant_id: string;
  ai_system_id: string;
  kind: string;
  severity: string;
  subject: string;
  title: string;
  detail: JsonWithDefault<Record<string, unknown>>;
  status: WithDefault<string>;
  occurrences: WithDefault<number>;
  first_seen: Stamp;
  last_seen: Stamp;
  first_row: string | null;
  last_row: string | null;
  acknowledged_at: NullableStamp;
  acknowledged_by: string | null;
  closed_at: NullableStamp;
  closed_by: string | null;
  resolution: NullableJson<Record<string, unknown>>;
  created_at: Stamp;
  updated_at: Stamp;
}
