-- Rows are found by any of their fields through blocks instead of an index for each field: an index is kept up for every
-- row the moment it is stored, a block is described once, a few seconds later, in one pass over its rows.

-- A block is a closed stretch of ids, from_id included and to_id not; blocks follow each other without a gap. Its zones
-- are the stretches of about 64 rows that a value is known to the nearest of: least ids, ascending. Rows outside of all
-- blocks, and all rows of a block that is not filled, are looked at one by one.
CREATE TABLE audit_blocks (
  block bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  from_id text COLLATE "C" NOT NULL UNIQUE,
  to_id text COLLATE "C" NOT NULL UNIQUE,
  zones text[] COLLATE "C",
  least_timestamp timestamptz,
  greatest_timestamp timestamptz,
  filled boolean NOT NULL DEFAULT false
);
CREATE INDEX audit_blocks_unfilled ON audit_blocks (block) WHERE NOT filled;

-- Which values of a field occur in which zones of a block. An entry is hash << 32 | tenant << 16 | zone, with 16 bits of
-- the hash of the tenant; entries are sorted. `bucket` is the upper six bits of the hash, so that looking for one value
-- reads little of a field whose values are all different; a field that no row of the block has is told by bucket -1
-- alone. Hashes only ever lead to rows, which are then compared.
CREATE TABLE audit_block_values (
  block bigint NOT NULL,
  field text COLLATE "C" NOT NULL,
  bucket smallint NOT NULL,
  entries bigint[] NOT NULL,
  PRIMARY KEY (block, field, bucket)
);
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

DROP INDEX audit_rows_type, audit_rows_subtype, audit_rows_endpoint, audit_rows_asked, audit_rows_provider, audit_rows_idp_username, audit_rows_fingerprint,
  audit_rows_turn, audit_rows_step, audit_rows_decided, audit_rows_delegated, audit_rows_special, audit_rows_tooling, audit_rows_enriched,
  audit_rows_run, audit_rows_group, audit_rows_key, audit_rows_model, audit_rows_time, audit_rows_correlation, audit_rows_address, audit_rows_status,
  audit_rows_failed, audit_rows_error, audit_rows_request, audit_rows_upstream_request, audit_rows_user, audit_rows_username, audit_rows_idp_user,
  audit_rows_idp_email, audit_rows_session, audit_rows_agent, audit_rows_server, audit_rows_capability, audit_rows_skill, audit_rows_guardrail,
  audit_rows_source, audit_rows_subject, audit_rows_bodies;

-- A call needs the totals of its run, and a span its call, at once. The last three hold what few rows have.
CREATE INDEX audit_rows_run ON audit_rows (root_task_id) WHERE root_task_id IS NOT NULL;
CREATE INDEX audit_rows_bodies ON audit_rows (id) WHERE bodies_pruned_at IS NULL AND (request_body_preview IS NOT NULL OR response_body_preview IS NOT NULL);
CREATE INDEX audit_rows_pruned ON audit_rows (bodies_pruned_at, id) WHERE bodies_pruned_at IS NOT NULL;
CREATE INDEX audit_rows_erased ON audit_rows (erased_at, id) WHERE erased_at IS NOT NULL;
CREATE INDEX audit_rows_unscoped ON audit_rows (id) WHERE tenant_id IS NULL;
