-- The audit ledger as the shipper writes it: rows, the chains they stand in, the checkpoints over the chains, the public
-- keys that signed those, and what finds rows, reduces them and erases people in them.

-- Audit rows stand in partitions of a month, so that retention drops a month instead of deleting its rows. The bounds are on
-- the id: it is a ULID, which begins with the time it was minted. A timestamp would not do: on trace rows it is whatever
-- the sender says. Uniqueness is by row id alone: a second row at one chain position is evidence to keep, not a write to
-- refuse.
CREATE TABLE audit_rows (
  id text COLLATE "C" PRIMARY KEY,
  tenant_id text,
  timestamp timestamptz,
  created_at timestamptz,
  proxy_type text,
  proxy_subtype text,
  http_method text,
  endpoint text,
  target_url text,
  server_id text,
  mcp_method text,
  mcp_request_id text,
  mcp_capability_name text,
  skill_id text,
  skill_execution_id text,
  llm_model_requested text,
  llm_model_used text,
  llm_provider text,
  llm_prompt_tokens bigint,
  llm_completion_tokens bigint,
  llm_total_tokens bigint,
  llm_estimated_cost_usd numeric,
  llm_streaming boolean,
  llm_temperature numeric,
  llm_max_tokens bigint,
  llm_function_calling boolean,
  llm_used_fallback boolean,
  llm_fallback_reason text,
  llm_cache_hit boolean,
  llm_cache_layer text,
  llm_tokens_saved bigint,
  llm_cache_similarity_score numeric,
  prompt_cache_write_tokens bigint,
  prompt_cache_read_tokens bigint,
  prompt_cache_savings_usd numeric,
  rag_enabled boolean,
  rag_chunks_retrieved bigint,
  rag_context_tokens bigint,
  rag_collection_ids jsonb,
  rag_top_similarity_score numeric,
  rag_retrieval_duration_ms bigint,
  prompt_fingerprint text,
  media_images_generated bigint,
  media_audio_chars bigint,
  media_audio_seconds_input numeric,
  media_video_seconds_output numeric,
  oauth_flow_type text,
  oauth_scope text,
  api_key_id text,
  api_key_name text,
  resource_group_id text,
  gateway_user_id text,
  gateway_user_username text,
  idp_user_id text,
  idp_user_username text,
  idp_user_email text,
  actor_agent_id text,
  subject_id text,
  subject_kind text,
  end_user_session_id text,
  client_ip text,
  user_agent text,
  is_auth_event boolean,
  correlation_id text,
  request_id text,
  parent_request_id text,
  root_task_id text,
  current_task_id text,
  parent_task_id text,
  delegation_depth bigint,
  a2a_protocol_version text,
  trace_continuity text,
  trace_root_kind text,
  step_id text,
  step_name text,
  turn_id text,
  turn_seq bigint,
  run_end_state text,
  trace_id text,
  span_id text,
  upstream_request_id text,
  request_size_bytes bigint,
  response_size_bytes bigint,
  request_headers jsonb,
  response_headers jsonb,
  request_body_preview text,
  response_body_preview text,
  request_content_hash text,
  response_content_hash text,
  http_status_code bigint,
  success boolean,
  error_type text,
  error_message text,
  duration_ms bigint,
  guardrail_blocked boolean,
  argument_policy_denied boolean,
  pii_detected boolean,
  guardrail_config_id text,
  guardrail_check text,
  guardrail_action text,
  guardrails_skipped boolean,
  guardrails_degraded boolean,
  argument_policy_id text,
  semantic_policy_id text,
  agent_authz_decision text,
  agent_grant_id text,
  autonomy_level text,
  autonomy_provenance text,
  consumed_approval_request_id text,
  pre_action_state jsonb,
  region_routed_to text,
  residency_class text,
  compliance_tags jsonb,
  tool_definition_hash text,
  server_version text,
  deciding_model text,
  chain_id text,
  chain_seq bigint,
  prev_hash text,
  row_hash text,
  source text,
  bodies_pruned_at timestamptz,
  erased_at timestamptz,
  custom_metadata jsonb,
  tags jsonb
) PARTITION BY RANGE (id);
CREATE INDEX audit_rows_chain ON audit_rows (chain_id, chain_seq, id);
CREATE INDEX audit_rows_tenant ON audit_rows (tenant_id, id);
CREATE INDEX audit_rows_trace ON audit_rows (trace_id, span_id) WHERE trace_id IS NOT NULL;

-- A call needs the totals of its run, and a span its call, at once. The last four hold what few rows have.
CREATE INDEX audit_rows_run ON audit_rows (root_task_id) WHERE root_task_id IS NOT NULL;
CREATE INDEX audit_rows_bodies ON audit_rows (id)
  WHERE bodies_pruned_at IS NULL AND (request_body_preview IS NOT NULL OR response_body_preview IS NOT NULL);
CREATE INDEX audit_rows_pruned ON audit_rows (bodies_pruned_at, id) WHERE bodies_pruned_at IS NOT NULL;
CREATE INDEX audit_rows_erased ON audit_rows (erased_at, id) WHERE erased_at IS NOT NULL;
CREATE INDEX audit_rows_unscoped ON audit_rows (id) WHERE tenant_id IS NULL;

-- Ids of other forms, months nobody made a partition for, and what retention may not drop yet. A row of ordinary size
-- stays in its page, here and in each partition: compressing it costs more time than shipping it does.
CREATE TABLE audit_rows_rest PARTITION OF audit_rows DEFAULT WITH (toast_tuple_target = 8160);

-- The least ULID of a moment.
CREATE FUNCTION audit_id_floor(at timestamptz) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
  digits constant text := '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  rest bigint := greatest(0, floor(extract(epoch FROM at) * 1000)::bigint);
  floor_id text := '';
BEGIN
  FOR i IN 1..10 LOOP
    floor_id := substr(digits, (rest % 32)::int + 1, 1) || floor_id;
    rest := rest / 32;
  END LOOP;
  RETURN floor_id;
END $$;

-- Makes the partition of the month `at` is in, when it is not there, with the rows of that month that had nowhere else
-- to go. Returns whether it made one.
CREATE FUNCTION ensure_audit_partition(at timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  first_day timestamptz := date_trunc('month', at, 'UTC');
  name text := 'audit_rows_' || to_char(first_day AT TIME ZONE 'UTC', 'YYYY_MM');
  least_id text := audit_id_floor(first_day);
  next_id text := audit_id_floor(date_trunc('month', first_day + interval '32 days', 'UTC'));
BEGIN
  PERFORM pg_advisory_xact_lock(7201837543);
  IF to_regclass(name) IS NOT NULL THEN RETURN false; END IF;
  EXECUTE format('CREATE TABLE %I (LIKE audit_rows INCLUDING DEFAULTS)', name);
  EXECUTE format('ALTER TABLE %I SET (toast_tuple_target = 8160)', name);
  EXECUTE format('WITH moved AS (DELETE FROM audit_rows_rest WHERE id >= %L AND id < %L RETURNING *) INSERT INTO %I SELECT * FROM moved', least_id, next_id, name);
  EXECUTE format('ALTER TABLE audit_rows ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', name, least_id, next_id);
  RETURN true;
END $$;

SELECT ensure_audit_partition(now()), ensure_audit_partition(date_trunc('month', now(), 'UTC') + interval '32 days');

-- shipped_segment and shipped_offset say how far into the writer's journal the table has come: the shipper moves them
-- in the transaction that inserts the rows, which makes shipping exactly once.
CREATE TABLE audit_chains (
  chain_id text PRIMARY KEY,
  writer text NOT NULL,
  first_seq bigint NOT NULL DEFAULT 1,
  head_seq bigint NOT NULL DEFAULT 0,
  head_hash text NOT NULL,
  last_checkpoint_seq bigint,
  shipped_segment bigint NOT NULL DEFAULT 0,
  shipped_offset bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE audit_checkpoints (
  chain_id text NOT NULL,
  checkpoint_no bigint NOT NULL,
  chain_seq bigint NOT NULL,
  note text NOT NULL,
  signed_at timestamptz NOT NULL,
  PRIMARY KEY (chain_id, checkpoint_no)
);

CREATE TABLE audit_keys (
  key_id text PRIMARY KEY,
  name text NOT NULL,
  public_key text NOT NULL,
  valid_from timestamptz NOT NULL,
  valid_to timestamptz
);

-- Rows are found by any of their fields through blocks instead of an index for each field: an index is kept up for every
-- row the moment it is stored, a block is described once, a few seconds later, in one pass over its rows.
--
-- A block is a closed stretch of ids, from_id included and to_id not; blocks follow each other without a gap. Its zones
-- are the stretches of about 64 rows that a value is known to the nearest of: least ids, ascending. Rows outside of all
-- blocks, and all rows of a block that is not filled, are looked at one by one. Zones of a block without `headers` may all
-- hold any header, until it is described again, which happens when nothing else is left to describe.
CREATE TABLE audit_blocks (
  block bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  from_id text COLLATE "C" NOT NULL UNIQUE,
  to_id text COLLATE "C" NOT NULL UNIQUE,
  zones text[] COLLATE "C",
  least_timestamp timestamptz,
  greatest_timestamp timestamptz,
  filled boolean NOT NULL DEFAULT false,
  headers boolean NOT NULL DEFAULT false
);
CREATE INDEX audit_blocks_unfilled ON audit_blocks (block) WHERE NOT filled;
CREATE INDEX audit_blocks_without_headers ON audit_blocks (from_id) WHERE NOT headers;

-- Which values of a field occur in which zones of a block. An entry is hash << 32 | tenant << 16 | zone, with 16 bits of
-- the hash of the tenant; entries are sorted. `bucket` is the upper six bits of the hash, so that looking for one value
-- reads little of a field whose values are all different; a field that no row of the block has is told by bucket -1
-- alone. Hashes only ever lead to rows, which are then compared.
-- Entries stay in their row as long as a page has room for them: one that stands out of line takes three times as long to
-- look at.
CREATE TABLE audit_block_values (
  block bigint NOT NULL,
  field text COLLATE "C" NOT NULL,
  bucket smallint NOT NULL,
  entries bigint[] NOT NULL,
  PRIMARY KEY (block, field, bucket)
) WITH (toast_tuple_target = 8160);
-- A column says so in its table only since PostgreSQL 16.
ALTER TABLE audit_block_values ALTER COLUMN entries SET STORAGE EXTERNAL;

-- Rows that were stored, or changed in what they are found by, after their block had been described.
CREATE TABLE audit_late_rows (id text COLLATE "C" PRIMARY KEY);

-- The terms of a value, such that whatever contains it has all of them: scalars of a list, members of an object whose
-- values are scalars, and a scalar itself.
CREATE FUNCTION audit_json_terms(value jsonb) RETURNS SETOF integer LANGUAGE sql IMMUTABLE AS $$
  SELECT hashtext(key || CASE jsonb_typeof(member) WHEN 'number' THEN trim_scale(member::numeric)::text ELSE member::text END)
  FROM (
    SELECT '' AS key, element AS member FROM jsonb_array_elements(CASE WHEN jsonb_typeof(value) = 'array' THEN value END) AS element
    UNION ALL SELECT key || '=', e.value FROM jsonb_each(CASE WHEN jsonb_typeof(value) = 'object' THEN value END) AS e
    UNION ALL SELECT '', value WHERE jsonb_typeof(value) NOT IN ('array', 'object')) AS members
  WHERE jsonb_typeof(member) NOT IN ('array', 'object')
$$;

-- How far a tenant's rows have been reduced to what their hash covers.
CREATE TABLE audit_retention (
  tenant_id text PRIMARY KEY,
  reduced_before text COLLATE "C" NOT NULL
);

-- Erasures of data subjects. `subject` holds, under the name of each identifying column, the SHA-256 of salt and value:
-- enough to know the subject's rows when they arrive late from a journal, and no identifier itself.
CREATE TABLE data_erasures (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  at timestamptz NOT NULL,
  requested_by text,
  reason text,
  salt text NOT NULL,
  subject jsonb NOT NULL,
  rows_erased bigint NOT NULL,
  runs_changed bigint NOT NULL,
  account_erased boolean NOT NULL DEFAULT false,
  approvals_erased bigint NOT NULL DEFAULT 0
);
CREATE INDEX data_erasures_tenant ON data_erasures (tenant_id, id);
CREATE INDEX data_erasures_at ON data_erasures (at);
CREATE TRIGGER data_erasures_append_only BEFORE UPDATE OR DELETE ON data_erasures FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER data_erasures_not_truncated BEFORE TRUNCATE ON data_erasures FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
