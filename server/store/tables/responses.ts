import type { NullableStamp, Stamp } from "./columns.ts";

export interface ResponsePolicyTable {
  id: string;
  tenant_id: string;
  /** Null for every system of the tenant. */
  ai_system_id: string | null;
  name: string;
  finding_kinds: string[];
  min_severity: string;
  action: string;
  mode: string;
  ttl_seconds: number;
  max_systems_per_hour: number;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface ResponseTable {
  id: string;
  tenant_id: string;
  ai_system_id: string;
  policy_id: string | null;
  policy_name: string;
  finding_id: string | null;
  action: string;
  status: string;
  reason: string;
  fired_at: Stamp;
  expires_at: NullableStamp;
  ended_at: NullableStamp;
  ended_by: string | null;
}
