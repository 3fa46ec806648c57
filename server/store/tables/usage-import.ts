import type { ColumnType } from "kysely";
import type { JsonWithDefault, NullableStamp, Stamp, WithDefault } from "./columns.ts";

/** A date as text: `2026-11-24`. */
type Day = ColumnType<string, string, string>;

export interface UsageImportSettingsTable {
  provider_id: string;
  tenant_id: string;
  import_enabled: WithDefault<boolean>;
  import_schedule_cron: string;
  import_mapping_mode: WithDefault<string>;
  import_backfill_through: ColumnType<string | null, string | null | undefined, string | null>;
  import_endpoint_override: string | null;
  import_account: string | null;
  api_key_sealed: string | null;
  api_key_hint: string | null;
  next_run_at: NullableStamp;
  updated_at: Stamp;
}

export interface UsageImportRunTable {
  id: string;
  tenant_id: string;
  provider_id: string;
  status: string;
  cause: string;
  started_at: Stamp;
  finished_at: NullableStamp;
  from_day: Day;
  to_day: Day;
  rows_imported: WithDefault<number>;
  unmatched: number | null;
  cost_nano_usd: ColumnType<string | null, string | null | undefined, string | null>;
  difference_nano_usd: ColumnType<string | null, string | null | undefined, string | null>;
  error: string | null;
  checkpoint: JsonWithDefault<{ window?: number; source?: number; cursor?: string | null; pages?: number; restarts?: number }>;
  attempts: WithDefault<number>;
  resume_at: Stamp;
  lease: string | null;
  lease_until: NullableStamp;
}
