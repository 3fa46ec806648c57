-- Audit rows in partitions of a month, so that retention drops a month instead of deleting its rows. The bounds are on
-- the id: it is a ULID, which begins with the time it was minted, so uniqueness by id alone and the order of pages stay
-- what they were. A timestamp would not do: on trace rows it is whatever the sender says.

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

ALTER TABLE audit_rows RENAME TO audit_rows_before;
ALTER TABLE audit_rows_before ALTER COLUMN id TYPE text COLLATE "C";
ALTER INDEX audit_rows_pkey RENAME TO audit_rows_before_pkey;
ALTER INDEX audit_rows_chain RENAME TO audit_rows_before_chain;
ALTER INDEX audit_rows_tenant RENAME TO audit_rows_before_tenant;

CREATE TABLE audit_rows (LIKE audit_rows_before INCLUDING DEFAULTS) PARTITION BY RANGE (id);
ALTER TABLE audit_rows ADD PRIMARY KEY (id);
CREATE INDEX audit_rows_chain ON audit_rows (chain_id, chain_seq, id);
CREATE INDEX audit_rows_tenant ON audit_rows (tenant_id, id);

-- Ids of other forms, months nobody made a partition for, and what retention may not drop yet.
CREATE TABLE audit_rows_rest PARTITION OF audit_rows DEFAULT;
ALTER TABLE audit_rows_rest SET (toast_tuple_target = 8160);

INSERT INTO audit_rows SELECT * FROM audit_rows_before;
DROP TABLE audit_rows_before;
SELECT ensure_audit_partition(month)
  FROM (SELECT DISTINCT date_trunc('month', timestamp, 'UTC') FROM audit_rows
        UNION SELECT now() UNION SELECT date_trunc('month', now(), 'UTC') + interval '32 days') AS months (month)
  WHERE month IS NOT NULL;

-- Runs of one field are followed through their newest rows: dense fields have an index each, sparse ones an index of the
-- rows that have them, which costs the others nothing.
CREATE INDEX audit_rows_run ON audit_rows (root_task_id, id) WHERE root_task_id IS NOT NULL;
CREATE INDEX audit_rows_group ON audit_rows (resource_group_id, id) WHERE resource_group_id IS NOT NULL;
CREATE INDEX audit_rows_key ON audit_rows (api_key_id, id) WHERE api_key_id IS NOT NULL;
CREATE INDEX audit_rows_model ON audit_rows (llm_model_used, id) WHERE llm_model_used IS NOT NULL;
CREATE INDEX audit_rows_time ON audit_rows (tenant_id, timestamp);
CREATE INDEX audit_rows_correlation ON audit_rows (correlation_id) WHERE correlation_id IS NOT NULL;
CREATE INDEX audit_rows_address ON audit_rows (client_ip, id) WHERE client_ip IS NOT NULL;
CREATE INDEX audit_rows_status ON audit_rows (http_status_code, id) WHERE http_status_code <> 200;
CREATE INDEX audit_rows_failed ON audit_rows (tenant_id, id) WHERE success IS FALSE;
CREATE INDEX audit_rows_error ON audit_rows (error_type, id) WHERE error_type IS NOT NULL;
CREATE INDEX audit_rows_request ON audit_rows (request_id) WHERE request_id IS NOT NULL;
CREATE INDEX audit_rows_trace ON audit_rows (trace_id, span_id) WHERE trace_id IS NOT NULL;
CREATE INDEX audit_rows_upstream_request ON audit_rows (upstream_request_id) WHERE upstream_request_id IS NOT NULL;
CREATE INDEX audit_rows_user ON audit_rows (gateway_user_id, id) WHERE gateway_user_id IS NOT NULL;
CREATE INDEX audit_rows_username ON audit_rows (gateway_user_username, id) WHERE gateway_user_username IS NOT NULL;
CREATE INDEX audit_rows_idp_user ON audit_rows (idp_user_id, id) WHERE idp_user_id IS NOT NULL;
CREATE INDEX audit_rows_idp_email ON audit_rows (idp_user_email, id) WHERE idp_user_email IS NOT NULL;
CREATE INDEX audit_rows_session ON audit_rows (end_user_session_id, id) WHERE end_user_session_id IS NOT NULL;
CREATE INDEX audit_rows_agent ON audit_rows (actor_agent_id, id) WHERE actor_agent_id IS NOT NULL;
CREATE INDEX audit_rows_server ON audit_rows (server_id, id) WHERE server_id IS NOT NULL;
CREATE INDEX audit_rows_capability ON audit_rows (mcp_capability_name, id) WHERE mcp_capability_name IS NOT NULL;
CREATE INDEX audit_rows_skill ON audit_rows (skill_id, id) WHERE skill_id IS NOT NULL;
CREATE INDEX audit_rows_guardrail ON audit_rows (guardrail_check, id) WHERE guardrail_check IS NOT NULL;
CREATE INDEX audit_rows_source ON audit_rows (source, id) WHERE source <> 'gateway';
CREATE INDEX audit_rows_subject ON audit_rows (subject_id, id) WHERE subject_id IS NOT NULL;
CREATE INDEX audit_rows_bodies ON audit_rows (tenant_id, id) WHERE bodies_pruned_at IS NULL AND (request_body_preview IS NOT NULL OR response_body_preview IS NOT NULL);
