-- What vendors say was used and what it cost, beside what the gateway metered and never added to it.

-- Of a provider whose vendor can be asked. import_backfill_through: the day before which everything was read once, and the
-- vendor's figures are taken to stand but for the days that are read again. The key is the account's, not the one of calls.
CREATE TABLE usage_import_settings (
  provider_id uuid PRIMARY KEY REFERENCES providers ON DELETE CASCADE,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  import_enabled boolean NOT NULL DEFAULT false,
  import_schedule_cron text NOT NULL,
  import_mapping_mode text NOT NULL DEFAULT 'auto_create',
  import_backfill_through date,
  import_endpoint_override text,
  import_account text,
  api_key_sealed text,
  api_key_hint text,
  next_run_at timestamptz,
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX usage_import_due ON usage_import_settings (next_run_at) WHERE import_enabled;

-- checkpoint: which window and source, and the vendor's cursor in it, written with the rows of each page. A run is carried on
-- by whoever holds the lease; one whose process is gone is carried on once the lease is over.
CREATE TABLE usage_import_runs (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  provider_id uuid NOT NULL REFERENCES providers ON DELETE CASCADE,
  status text NOT NULL,
  cause text NOT NULL,
  started_at timestamptz NOT NULL,
  finished_at timestamptz,
  from_day date NOT NULL,
  to_day date NOT NULL,
  rows_imported bigint NOT NULL DEFAULT 0,
  unmatched integer,
  cost_nano_usd numeric,
  difference_nano_usd numeric,
  error text,
  checkpoint jsonb NOT NULL DEFAULT '{}',
  attempts integer NOT NULL DEFAULT 0,
  resume_at timestamptz NOT NULL,
  lease uuid,
  lease_until timestamptz
);
CREATE UNIQUE INDEX usage_import_runs_open ON usage_import_runs (provider_id) WHERE finished_at IS NULL;
CREATE INDEX usage_import_runs_listed ON usage_import_runs (tenant_id, provider_id, started_at DESC);

-- Each figure as the vendor gave it. A figure that changed is a further revision, and the one before is kept with the moment
-- it was superseded. Money is nano-dollars of `currency`, which no cent is lost in.
CREATE TABLE usage_import_buckets (
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  provider_id uuid NOT NULL REFERENCES providers ON DELETE CASCADE,
  source text NOT NULL,
  bucket_start timestamptz NOT NULL,
  dimensions_hash text NOT NULL,
  revision integer NOT NULL,
  bucket_seconds integer NOT NULL,
  digest text NOT NULL,
  dimensions jsonb NOT NULL,
  model text,
  key_id text,
  project text,
  requests bigint,
  input_tokens bigint,
  cached_tokens bigint,
  output_tokens bigint,
  cost_nano numeric,
  currency text,
  provisional boolean NOT NULL,
  seen_run uuid NOT NULL,
  imported_at timestamptz NOT NULL,
  superseded_at timestamptz,
  PRIMARY KEY (provider_id, source, bucket_start, dimensions_hash, revision)
);
CREATE INDEX usage_import_buckets_current ON usage_import_buckets (provider_id, bucket_start) WHERE superseded_at IS NULL;

-- What the vendor's names stand for here. target is null of what nobody has matched; ignored: somebody said that it is not ours.
CREATE TABLE usage_import_mappings (
  provider_id uuid NOT NULL REFERENCES providers ON DELETE CASCADE,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  kind text NOT NULL,
  vendor_id text NOT NULL,
  label text,
  project text,
  target text,
  matched_by text,
  ignored boolean NOT NULL DEFAULT false,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (provider_id, kind, vendor_id)
);
