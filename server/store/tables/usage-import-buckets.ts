import type { JsonWithDefault, NullableStamp, Stamp, WithDefault } from "./columns.ts";

export interface UsageImportBucketTable {
  tenant_id: string;
  provider_id: string;
  source: string;
  bucket_start: Stamp;
  dimensions_hash: string;
  revision: number;
  bucket_seconds: number;
  digest: string;
  dimensions: JsonWithDefault<Record<string, unknown>>;
  model: string | null;
  key_id: string | null;
  project: string | null;
  requests: number | null;
  input_tokens: number | null;
  cached_tokens: number | null;
  output_tokens: number | null;
  cost_nano: string | null;
  currency: string | null;
  provisional: boolean;
  seen_run: string;
  imported_at: Stamp;
  superseded_at: NullableStamp;
}

export interface UsageImportMappingTable {
  provider_id: string;
  tenant_id: string;
  kind: string;
  vendor_id: string;
  label: string | null;
  project: string | null;
  target: string | null;
  matched_by: string | null;
  ignored: WithDefault<boolean>;
  updated_at: Stamp;
}
