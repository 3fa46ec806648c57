import type { ReplayResult, ReplayTotals } from "@gatehouse/contracts/ai-replay";
import type { JsonWithDefault, NullableJson, NullableStamp, Stamp, WithDefault } from "./columns.ts";

export interface ReplaySuiteTable {
  id: string;
  tenant_id: string;
  ai_system_id: string;
  version: number;
  digest: string;
  /** Canonical JSON text. */
  content: string;
  created_by: string | null;
  created_at: Stamp;
}

export interface ReplayRunTable {
  id: string;
  tenant_id: string;
  ai_system_id: string;
  suite_id: string;
  state: WithDefault<string>;
  contract_digest: string | null;
  models: WithDefault<string[]>;
  totals: NullableJson<ReplayTotals>;
  results: JsonWithDefault<ReplayResult[]>;
  cost_micro_usd: number | null;
  error: string | null;
  requested_by: string | null;
  heard_of_at: NullableStamp;
  created_at: Stamp;
  started_at: NullableStamp;
  ended_at: NullableStamp;
}
