-- pg_dump (15) of a throwaway gateway's database at 0097_branches_left.sql, after five calls; nothing in it is in use anywhere.
SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

CREATE FUNCTION public.audit_id_floor(at timestamp with time zone) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT
    AS $$
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

CREATE FUNCTION public.audit_json_terms(value jsonb) RETURNS SETOF integer
    LANGUAGE sql IMMUTABLE
    AS $$
  SELECT hashtext(key || CASE jsonb_typeof(member) WHEN 'number' THEN trim_scale(member::numeric)::text ELSE member::text END)
  FROM (
    SELECT '' AS key, element AS member FROM jsonb_array_elements(CASE WHEN jsonb_typeof(value) = 'array' THEN value END) AS element
    UNION ALL SELECT key || '=', e.value FROM jsonb_each(CASE WHEN jsonb_typeof(value) = 'object' THEN value END) AS e
    UNION ALL SELECT '', value WHERE jsonb_typeof(value) NOT IN ('array', 'object')) AS members
  WHERE jsonb_typeof(member) NOT IN ('array', 'object')
$$;

CREATE FUNCTION public.ensure_audit_partition(at timestamp with time zone) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
END $$;

CREATE FUNCTION public.runs_deleted() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN
  INSERT INTO run_hourly AS h
  SELECT c.tenant_id, c.resource_group_id, date_trunc('hour', c.started_at, 'UTC'),
    sum(sign),
    coalesce(sum(sign) FILTER (WHERE c.state = 'open'), 0),
    coalesce(sum(sign) FILTER (WHERE c.state = 'completed'), 0),
    coalesce(sum(sign) FILTER (WHERE c.state = 'completed_degraded'), 0),
    coalesce(sum(sign) FILTER (WHERE c.state = 'exhausted'), 0),
    coalesce(sum(sign) FILTER (WHERE c.state = 'errored'), 0),
    coalesce(sum(sign) FILTER (WHERE c.state = 'blocked_policy'), 0),
    coalesce(sum(sign) FILTER (WHERE c.state = 'cancelled'), 0),
    coalesce(sum(sign) FILTER (WHERE c.state_source = 'client'), 0),
    coalesce(sum(sign) FILTER (WHERE c.outcome = 'resolved'), 0),
    coalesce(sum(sign) FILTER (WHERE c.outcome = 'escalated'), 0),
    coalesce(sum(sign) FILTER (WHERE c.outcome = 'handed_off'), 0),
    coalesce(sum(sign) FILTER (WHERE c.outcome = 'abandoned_by_user'), 0),
    sum(sign * c.calls), sum(sign * c.llm_calls), sum(sign * c.tool_calls), sum(sign * c.tool_errors),
    sum(sign * c.errors), sum(sign * c.late_calls), sum(sign * c.asserted_calls), sum(sign * c.intact_calls),
    sum(sign * c.external_calls), sum(sign * c.prompt_tokens), sum(sign * c.completion_tokens),
    sum(sign * c.cost_micro_usd), sum(sign * c.unpriced_calls), max(c.calls)
  FROM (SELECT -1 AS sign, * FROM old_runs) AS c
  GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (tenant_id, resource_group_id, hour) DO UPDATE SET
    runs = h.runs + excluded.runs, open = h.open + excluded.open, completed = h.completed + excluded.completed,
    completed_degraded = h.completed_degraded + excluded.completed_degraded, exhausted = h.exhausted + excluded.exhausted,
    errored = h.errored + excluded.errored, blocked_policy = h.blocked_policy + excluded.blocked_policy,
    cancelled = h.cancelled + excluded.cancelled, ended_by_client = h.ended_by_client + excluded.ended_by_client,
    resolved = h.resolved + excluded.resolved, escalated = h.escalated + excluded.escalated,
    handed_off = h.handed_off + excluded.handed_off, abandoned_by_user = h.abandoned_by_user + excluded.abandoned_by_user,
    calls = h.calls + excluded.calls, llm_calls = h.llm_calls + excluded.llm_calls, tool_calls = h.tool_calls + excluded.tool_calls,
    tool_errors = h.tool_errors + excluded.tool_errors, errors = h.errors + excluded.errors, late_calls = h.late_calls + excluded.late_calls,
    asserted_calls = h.asserted_calls + excluded.asserted_calls, intact_calls = h.intact_calls + excluded.intact_calls,
    external_calls = h.external_calls + excluded.external_calls, prompt_tokens = h.prompt_tokens + excluded.prompt_tokens,
    completion_tokens = h.completion_tokens + excluded.completion_tokens, cost_micro_usd = h.cost_micro_usd + excluded.cost_micro_usd,
    unpriced_calls = h.unpriced_calls + excluded.unpriced_calls, longest = greatest(h.longest, excluded.longest);
RETURN NULL; END $$;

CREATE FUNCTION public.runs_inserted() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN
  INSERT INTO run_hourly AS h
  SELECT c.tenant_id, c.resource_group_id, date_trunc('hour', c.started_at, 'UTC'),
    sum(sign),
    coalesce(sum(sign) FILTER (WHERE c.state = 'open'), 0),
    coalesce(sum(sign) FILTER (WHERE c.state = 'completed'), 0),
    coalesce(sum(sign) FILTER (WHERE c.state = 'completed_degraded'), 0),
    coalesce(sum(sign) FILTER (WHERE c.state = 'exhausted'), 0),
    coalesce(sum(sign) FILTER (WHERE c.state = 'errored'), 0),
    coalesce(sum(sign) FILTER (WHERE c.state = 'blocked_policy'), 0),
    coalesce(sum(sign) FILTER (WHERE c.state = 'cancelled'), 0),
    coalesce(sum(sign) FILTER (WHERE c.state_source = 'client'), 0),
    coalesce(sum(sign) FILTER (WHERE c.outcome = 'resolved'), 0),
    coalesce(sum(sign) FILTER (WHERE c.outcome = 'escalated'), 0),
    coalesce(sum(sign) FILTER (WHERE c.outcome = 'handed_off'), 0),
    coalesce(sum(sign) FILTER (WHERE c.outcome = 'abandoned_by_user'), 0),
    sum(sign * c.calls), sum(sign * c.llm_calls), sum(sign * c.tool_calls), sum(sign * c.tool_errors),
    sum(sign * c.errors), sum(sign * c.late_calls), sum(sign * c.asserted_calls), sum(sign * c.intact_calls),
    sum(sign * c.external_calls), sum(sign * c.prompt_tokens), sum(sign * c.completion_tokens),
    sum(sign * c.cost_micro_usd), sum(sign * c.unpriced_calls), max(c.calls)
  FROM (SELECT 1 AS sign, * FROM new_runs) AS c
  GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (tenant_id, resource_group_id, hour) DO UPDATE SET
    runs = h.runs + excluded.runs, open = h.open + excluded.open, completed = h.completed + excluded.completed,
    completed_degraded = h.completed_degraded + excluded.completed_degraded, exhausted = h.exhausted + excluded.exhausted,
    errored = h.errored + excluded.errored, blocked_policy = h.blocked_policy + excluded.blocked_policy,
    cancelled = h.cancelled + excluded.cancelled, ended_by_client = h.ended_by_client + excluded.ended_by_client,
    resolved = h.resolved + excluded.resolved, escalated = h.escalated + excluded.escalated,
    handed_off = h.handed_off + excluded.handed_off, abandoned_by_user = h.abandoned_by_user + excluded.abandoned_by_user,
    calls = h.calls + excluded.calls, llm_calls = h.llm_calls + excluded.llm_calls, tool_calls = h.tool_calls + excluded.tool_calls,
    tool_errors = h.tool_errors + excluded.tool_errors, errors = h.errors + excluded.errors, late_calls = h.late_calls + excluded.late_calls,
    asserted_calls = h.asserted_calls + excluded.asserted_calls, intact_calls = h.intact_calls + excluded.intact_calls,
    external_calls = h.external_calls + excluded.external_calls, prompt_tokens = h.prompt_tokens + excluded.prompt_tokens,
    completion_tokens = h.completion_tokens + excluded.completion_tokens, cost_micro_usd = h.cost_micro_usd + excluded.cost_micro_usd,
    unpriced_calls = h.unpriced_calls + excluded.unpriced_calls, longest = greatest(h.longest, excluded.longest);
RETURN NULL; END $$;

CREATE FUNCTION public.runs_updated() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN IF NOT EXISTS (SELECT FROM new_runs) THEN RETURN NULL; END IF;
  INSERT INTO run_hourly AS h
  SELECT c.tenant_id, c.resource_group_id, date_trunc('hour', c.started_at, 'UTC'),
    sum(sign),
    coalesce(sum(sign) FILTER (WHERE c.state = 'open'), 0),
    coalesce(sum(sign) FILTER (WHERE c.state = 'completed'), 0),
    coalesce(sum(sign) FILTER (WHERE c.state = 'completed_degraded'), 0),
    coalesce(sum(sign) FILTER (WHERE c.state = 'exhausted'), 0),
    coalesce(sum(sign) FILTER (WHERE c.state = 'errored'), 0),
    coalesce(sum(sign) FILTER (WHERE c.state = 'blocked_policy'), 0),
    coalesce(sum(sign) FILTER (WHERE c.state = 'cancelled'), 0),
    coalesce(sum(sign) FILTER (WHERE c.state_source = 'client'), 0),
    coalesce(sum(sign) FILTER (WHERE c.outcome = 'resolved'), 0),
    coalesce(sum(sign) FILTER (WHERE c.outcome = 'escalated'), 0),
    coalesce(sum(sign) FILTER (WHERE c.outcome = 'handed_off'), 0),
    coalesce(sum(sign) FILTER (WHERE c.outcome = 'abandoned_by_user'), 0),
    sum(sign * c.calls), sum(sign * c.llm_calls), sum(sign * c.tool_calls), sum(sign * c.tool_errors),
    sum(sign * c.errors), sum(sign * c.late_calls), sum(sign * c.asserted_calls), sum(sign * c.intact_calls),
    sum(sign * c.external_calls), sum(sign * c.prompt_tokens), sum(sign * c.completion_tokens),
    sum(sign * c.cost_micro_usd), sum(sign * c.unpriced_calls), max(c.calls)
  FROM (SELECT -1 AS sign, * FROM old_runs UNION ALL SELECT 1, * FROM new_runs) AS c
  GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (tenant_id, resource_group_id, hour) DO UPDATE SET
    runs = h.runs + excluded.runs, open = h.open + excluded.open, completed = h.completed + excluded.completed,
    completed_degraded = h.completed_degraded + excluded.completed_degraded, exhausted = h.exhausted + excluded.exhausted,
    errored = h.errored + excluded.errored, blocked_policy = h.blocked_policy + excluded.blocked_policy,
    cancelled = h.cancelled + excluded.cancelled, ended_by_client = h.ended_by_client + excluded.ended_by_client,
    resolved = h.resolved + excluded.resolved, escalated = h.escalated + excluded.escalated,
    handed_off = h.handed_off + excluded.handed_off, abandoned_by_user = h.abandoned_by_user + excluded.abandoned_by_user,
    calls = h.calls + excluded.calls, llm_calls = h.llm_calls + excluded.llm_calls, tool_calls = h.tool_calls + excluded.tool_calls,
    tool_errors = h.tool_errors + excluded.tool_errors, errors = h.errors + excluded.errors, late_calls = h.late_calls + excluded.late_calls,
    asserted_calls = h.asserted_calls + excluded.asserted_calls, intact_calls = h.intact_calls + excluded.intact_calls,
    external_calls = h.external_calls + excluded.external_calls, prompt_tokens = h.prompt_tokens + excluded.prompt_tokens,
    completion_tokens = h.completion_tokens + excluded.completion_tokens, cost_micro_usd = h.cost_micro_usd + excluded.cost_micro_usd,
    unpriced_calls = h.unpriced_calls + excluded.unpriced_calls, longest = greatest(h.longest, excluded.longest);
RETURN NULL; END $$;

CREATE FUNCTION public.tell_portal_of_person() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  PERFORM pg_notify('gatehouse_portal', json_build_object('kind', 'notification', 'tenant_id', NEW.tenant_id, 'id', NEW.id, 'user_id', NEW.end_user_id)::text);
  RETURN NULL;
END $$;

CREATE FUNCTION public.tell_portals() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  PERFORM pg_notify('gatehouse_portal', json_build_object('kind', TG_ARGV[0], 'tenant_id', NEW.tenant_id, 'id', NEW.id)::text);
  RETURN NULL;
END $$;

SET default_tablespace = '';

SET default_table_access_method = heap;

CREATE TABLE public.admin_log (
    id text NOT NULL,
    tenant_id text,
    at timestamp with time zone DEFAULT now() NOT NULL,
    actor_id text,
    actor_username text,
    actor_role text,
    action text NOT NULL,
    resource text NOT NULL,
    resource_id text,
    before jsonb,
    after jsonb,
    client_ip text,
    request_id text,
    chain_seq bigint,
    prev_hash text,
    entry_hash text
);

CREATE TABLE public.admin_log_checkpoints (
    checkpoint_no bigint NOT NULL,
    chain_seq bigint NOT NULL,
    note text NOT NULL,
    signed_at timestamp with time zone NOT NULL
);

CREATE TABLE public.admin_log_head (
    only_row boolean DEFAULT true NOT NULL,
    seq bigint NOT NULL,
    hash text NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT admin_log_head_only_row_check CHECK (only_row)
);

CREATE TABLE public.admin_users (
    id uuid NOT NULL,
    tenant_id text,
    username text NOT NULL,
    email text,
    display_name text,
    password_hash text NOT NULL,
    role text NOT NULL,
    is_active boolean DEFAULT true NOT NULL,
    tokens_valid_from timestamp with time zone DEFAULT now() NOT NULL,
    last_login timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.alert_acknowledgements (
    alert_id text NOT NULL,
    end_user_id uuid NOT NULL,
    acknowledged_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.alerts (
    id text NOT NULL,
    tenant_id text NOT NULL,
    alert_type text NOT NULL,
    severity text NOT NULL,
    title text NOT NULL,
    message text NOT NULL,
    group_id uuid,
    threshold_value double precision,
    current_value double precision,
    resolved boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    resolved_at timestamp with time zone,
    crossing text NOT NULL,
    expires_at timestamp with time zone
);

CREATE TABLE public.api_keys (
    id uuid NOT NULL,
    tenant_id text NOT NULL,
    name text NOT NULL,
    scope text NOT NULL,
    access_mode text NOT NULL,
    resource_group_id uuid,
    end_user_id uuid,
    allowed_skill_ids jsonb,
    key_hash text NOT NULL,
    key_hint text NOT NULL,
    previous_hash text,
    previous_valid_until timestamp with time zone,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    last_used_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.approvals (
    id uuid NOT NULL,
    tenant_id text NOT NULL,
    server_config_id uuid,
    server_id text NOT NULL,
    server_name text NOT NULL,
    capability_type text NOT NULL,
    capability_name text NOT NULL,
    requester_type text NOT NULL,
    requester_id text NOT NULL,
    requester_display text NOT NULL,
    requester_group_id uuid NOT NULL,
    approver_group_ids uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    call_arguments text NOT NULL,
    arguments_digest text NOT NULL,
    request_metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    status text DEFAULT 'pending'::text NOT NULL,
    timeout_seconds bigint NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    token_nonce text,
    resolved_by text,
    resolved_at timestamp with time zone,
    resolution_note text,
    consumed_at timestamp with time zone,
    consumed_by_call text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    shown_in text[] DEFAULT '{}'::text[] NOT NULL,
    resolver_id text,
    definition_digest text DEFAULT ''::text NOT NULL
);

CREATE TABLE public.argument_policies (
    id uuid NOT NULL,
    tenant_id text NOT NULL,
    name text NOT NULL,
    description text,
    surface text NOT NULL,
    target text NOT NULL,
    argument_key text,
    analyzer text NOT NULL,
    severity text NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    rules jsonb NOT NULL,
    dialect text,
    read_functions text[],
    schema jsonb,
    all_groups boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.argument_policy_groups (
    policy_id uuid NOT NULL,
    group_id uuid NOT NULL,
    tenant_id text NOT NULL
);

CREATE TABLE public.audit_block_values (
    block bigint NOT NULL,
    field text NOT NULL COLLATE pg_catalog."C",
    bucket smallint NOT NULL,
    entries bigint[] NOT NULL
)
WITH (toast_tuple_target='8160');
ALTER TABLE ONLY public.audit_block_values ALTER COLUMN entries SET STORAGE EXTERNAL;

CREATE TABLE public.audit_blocks (
    block bigint NOT NULL,
    from_id text NOT NULL COLLATE pg_catalog."C",
    to_id text NOT NULL COLLATE pg_catalog."C",
    zones text[] COLLATE pg_catalog."C",
    least_timestamp timestamp with time zone,
    greatest_timestamp timestamp with time zone,
    filled boolean DEFAULT false NOT NULL,
    headers boolean DEFAULT false NOT NULL
);

ALTER TABLE public.audit_blocks ALTER COLUMN block ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.audit_blocks_block_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.audit_chains (
    chain_id text NOT NULL,
    writer text NOT NULL,
    first_seq bigint DEFAULT 1 NOT NULL,
    head_seq bigint DEFAULT 0 NOT NULL,
    head_hash text NOT NULL,
    last_checkpoint_seq bigint,
    shipped_segment bigint DEFAULT 0 NOT NULL,
    shipped_offset bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.audit_checkpoints (
    chain_id text NOT NULL,
    checkpoint_no bigint NOT NULL,
    chain_seq bigint NOT NULL,
    note text NOT NULL,
    signed_at timestamp with time zone NOT NULL
);

CREATE TABLE public.audit_keys (
    key_id text NOT NULL,
    name text NOT NULL,
    public_key text NOT NULL,
    valid_from timestamp with time zone NOT NULL,
    valid_to timestamp with time zone
);

CREATE TABLE public.audit_late_rows (
    id text NOT NULL COLLATE pg_catalog."C"
);

CREATE TABLE public.audit_retention (
    tenant_id text NOT NULL,
    reduced_before text NOT NULL COLLATE pg_catalog."C"
);

CREATE TABLE public.audit_rows (
    id text NOT NULL COLLATE pg_catalog."C",
    tenant_id text,
    "timestamp" timestamp with time zone,
    created_at timestamp with time zone,
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
    bodies_pruned_at timestamp with time zone,
    erased_at timestamp with time zone,
    custom_metadata jsonb,
    tags jsonb
)
PARTITION BY RANGE (id);

CREATE TABLE public.audit_rows_2026_11 (
    id text NOT NULL COLLATE pg_catalog."C",
    tenant_id text,
    "timestamp" timestamp with time zone,
    created_at timestamp with time zone,
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
    bodies_pruned_at timestamp with time zone,
    erased_at timestamp with time zone,
    custom_metadata jsonb,
    tags jsonb
)
WITH (toast_tuple_target='8160');

CREATE TABLE public.audit_rows_2026_12 (
    id text NOT NULL COLLATE pg_catalog."C",
    tenant_id text,
    "timestamp" timestamp with time zone,
    created_at timestamp with time zone,
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
    bodies_pruned_at timestamp with time zone,
    erased_at timestamp with time zone,
    custom_metadata jsonb,
    tags jsonb
)
WITH (toast_tuple_target='8160');

CREATE TABLE public.audit_rows_rest (
    id text NOT NULL COLLATE pg_catalog."C",
    tenant_id text,
    "timestamp" timestamp with time zone,
    created_at timestamp with time zone,
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
    bodies_pruned_at timestamp with time zone,
    erased_at timestamp with time zone,
    custom_metadata jsonb,
    tags jsonb
)
WITH (toast_tuple_target='8160');

CREATE TABLE public.config_changes (
    version bigint NOT NULL,
    tenant_id text NOT NULL,
    topic text NOT NULL,
    ref text,
    at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.config_version (
    only_row boolean DEFAULT true NOT NULL,
    version bigint NOT NULL,
    CONSTRAINT config_version_only_row_check CHECK (only_row)
);

CREATE TABLE public.conversation_notices (
    tenant_id text NOT NULL,
    conversation_handle text NOT NULL,
    method text NOT NULL,
    record_id text NOT NULL,
    noticed_at timestamp with time zone NOT NULL
);

CREATE TABLE public.data_erasures (
    id text NOT NULL,
    tenant_id text NOT NULL,
    at timestamp with time zone NOT NULL,
    requested_by text,
    reason text,
    salt text NOT NULL,
    subject jsonb NOT NULL,
    rows_erased bigint NOT NULL,
    runs_changed bigint NOT NULL,
    account_erased boolean DEFAULT false NOT NULL,
    approvals_erased bigint DEFAULT 0 NOT NULL
);

CREATE TABLE public.end_user_backup_codes (
    end_user_id uuid NOT NULL,
    slot integer NOT NULL,
    code_hash text NOT NULL,
    used_at timestamp with time zone
);

CREATE TABLE public.end_user_group_members (
    group_id uuid NOT NULL,
    end_user_id uuid NOT NULL,
    source text DEFAULT 'direct'::text NOT NULL,
    tenant_id text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

CREATE TABLE public.end_user_groups (
    id uuid NOT NULL,
    tenant_id text NOT NULL,
    name text NOT NULL,
    display_name text,
    description text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.end_user_photos (
    end_user_id uuid NOT NULL,
    tenant_id text NOT NULL,
    photo_id text NOT NULL,
    mime_type text NOT NULL,
    content bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.end_users (
    id uuid NOT NULL,
    tenant_id text NOT NULL,
    username text NOT NULL,
    email text,
    display_name text,
    password_hash text NOT NULL,
    is_active boolean DEFAULT true NOT NULL,
    is_verified boolean DEFAULT false NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    avatar_url text,
    totp_enabled boolean DEFAULT false NOT NULL,
    primary_group_id uuid,
    last_login timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    tokens_valid_from timestamp with time zone DEFAULT now() NOT NULL,
    assigned_group_id uuid,
    totp_secret_sealed text,
    totp_last_step bigint
);

CREATE TABLE public.former_model_names (
    tenant_id text NOT NULL,
    name text NOT NULL,
    until timestamp with time zone NOT NULL,
    model_id uuid NOT NULL
);

CREATE TABLE public.gone_groups (
    tenant_id text NOT NULL,
    group_id text NOT NULL,
    heir_id uuid NOT NULL
);

CREATE TABLE public.gone_tenants (
    id text NOT NULL,
    data_retention jsonb NOT NULL,
    gone_at timestamp with time zone NOT NULL
);

CREATE TABLE public.group_policies (
    tenant_id text NOT NULL,
    group_id uuid NOT NULL,
    kind text NOT NULL,
    item_id text DEFAULT ''::text NOT NULL,
    document jsonb NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.guardrail_configs (
    id uuid NOT NULL,
    tenant_id text NOT NULL,
    name text NOT NULL,
    description text,
    enabled boolean DEFAULT true NOT NULL,
    group_ids uuid[],
    surfaces jsonb NOT NULL,
    builtin jsonb NOT NULL,
    providers jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.kept_signatures (
    tenant_id text NOT NULL,
    name text NOT NULL,
    sealed text NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

CREATE TABLE public.mcp_server_snapshots (
    id text NOT NULL,
    tenant_id text NOT NULL,
    mcp_server_id text NOT NULL,
    taken_at timestamp with time zone NOT NULL,
    protocol_version text NOT NULL,
    dialect text NOT NULL,
    server_version text,
    capabilities jsonb NOT NULL,
    tools jsonb NOT NULL,
    prompts jsonb NOT NULL,
    resources jsonb NOT NULL,
    resource_templates jsonb NOT NULL,
    diff jsonb NOT NULL
);

CREATE TABLE public.mcp_servers (
    id text NOT NULL,
    tenant_id text NOT NULL,
    name text NOT NULL,
    description text,
    base_url text NOT NULL,
    mcp_endpoint_path text NOT NULL,
    auth_type text DEFAULT 'none'::text NOT NULL,
    api_key_sealed text,
    api_key_hint text,
    timeout double precision DEFAULT 30 NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    icon_url text,
    dialect text,
    protocol_version text,
    server_name text,
    server_version text,
    capabilities jsonb DEFAULT '{}'::jsonb NOT NULL,
    instructions text,
    tool_index jsonb DEFAULT '[]'::jsonb NOT NULL,
    discovered_at timestamp with time zone,
    is_healthy boolean,
    health_checked_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    handshake jsonb
);

CREATE TABLE public.model_usage_daily (
    tenant_id text NOT NULL,
    day date NOT NULL,
    resource_group_id text NOT NULL,
    model_id text NOT NULL,
    requests bigint NOT NULL,
    tokens bigint NOT NULL,
    cost_micro_usd bigint NOT NULL
);

CREATE TABLE public.models (
    id uuid NOT NULL,
    tenant_id text NOT NULL,
    provider_id uuid NOT NULL,
    name text NOT NULL,
    model_name text NOT NULL,
    description text,
    modes text[] NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    base_url text,
    api_key_sealed text,
    api_key_hint text,
    default_temperature double precision,
    default_max_tokens bigint,
    system_prompt text,
    input_cost bigint,
    output_cost bigint,
    cache_read_cost bigint,
    cache_write_cost bigint,
    context_window bigint,
    max_output_tokens bigint,
    supports_vision boolean DEFAULT false NOT NULL,
    supports_tools boolean DEFAULT true NOT NULL,
    supports_file_uploads boolean DEFAULT false NOT NULL,
    supports_streaming boolean DEFAULT true NOT NULL,
    rate_limit_rpm bigint,
    rate_limit_tpm bigint,
    max_concurrent_requests bigint,
    residency_region text,
    icon_url text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    routing_group_id text,
    routing_weight bigint DEFAULT 1 NOT NULL,
    cache_write_hour_cost bigint,
    price_tiers jsonb DEFAULT '[]'::jsonb NOT NULL,
    price_changes jsonb DEFAULT '[]'::jsonb NOT NULL,
    image_cost bigint,
    audio_input_second_cost bigint,
    audio_output_character_cost bigint,
    video_second_cost bigint,
    supported_image_qualities text[] DEFAULT '{}'::text[] NOT NULL,
    supported_video_resolutions text[] DEFAULT '{}'::text[] NOT NULL,
    supported_video_durations double precision[] DEFAULT '{}'::double precision[] NOT NULL,
    max_video_duration_seconds double precision,
    is_healthy boolean,
    health_checked_at timestamp with time zone,
    supports_system_turns boolean,
    supports_sampling boolean,
    max_tokens_parameter text,
    audio_input_cost bigint,
    audio_output_cost bigint,
    web_search_cost bigint
);

CREATE TABLE public.notice_configs (
    id uuid NOT NULL,
    tenant_id text NOT NULL,
    ai_system_id uuid,
    enabled boolean NOT NULL,
    surface text NOT NULL,
    texts jsonb NOT NULL,
    exemption jsonb,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.notifications (
    id text NOT NULL,
    tenant_id text NOT NULL,
    end_user_id uuid NOT NULL,
    notification_type text NOT NULL,
    title text NOT NULL,
    body text NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    is_read boolean DEFAULT false NOT NULL,
    read_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone
);

CREATE TABLE public.oauth_client_grants (
    id uuid NOT NULL,
    tenant_id text NOT NULL,
    token_id uuid NOT NULL,
    client_hash text NOT NULL,
    nonce text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    used_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.oauth_tokens (
    id uuid NOT NULL,
    tenant_id text NOT NULL,
    principal_type text NOT NULL,
    principal_id text NOT NULL,
    mcp_server_id text NOT NULL,
    issuer text NOT NULL,
    client_id text NOT NULL,
    redirect_uri text NOT NULL,
    resource text NOT NULL,
    access_token_sealed text NOT NULL,
    refresh_token_sealed text,
    scopes text[] DEFAULT '{}'::text[] NOT NULL,
    expires_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    renewal_id uuid,
    renewal_ends timestamp with time zone
);

CREATE TABLE public.oauth_upstream_clients (
    tenant_id text NOT NULL,
    mcp_server_id text NOT NULL,
    issuer text NOT NULL,
    redirect_uri text DEFAULT ''::text NOT NULL,
    client_id text NOT NULL,
    client_secret_sealed text,
    auth_method text NOT NULL,
    scopes text[],
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.providers (
    id uuid NOT NULL,
    tenant_id text NOT NULL,
    provider_key text NOT NULL,
    name text NOT NULL,
    api_format text NOT NULL,
    base_url text,
    api_key_sealed text,
    api_key_hint text,
    headers jsonb DEFAULT '{}'::jsonb NOT NULL,
    region text,
    enabled boolean DEFAULT true NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    max_tokens_parameter text
);

CREATE TABLE public.resource_group_end_user_groups (
    resource_group_id uuid NOT NULL,
    end_user_group_id uuid NOT NULL,
    tenant_id text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

CREATE TABLE public.resource_group_models (
    group_id uuid NOT NULL,
    model_id uuid NOT NULL,
    tenant_id text NOT NULL,
    portal_visible boolean DEFAULT true NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.resource_group_virtual_models (
    group_id uuid NOT NULL,
    model_id uuid NOT NULL,
    tenant_id text NOT NULL,
    portal_visible boolean DEFAULT true NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.resource_groups (
    id uuid NOT NULL,
    tenant_id text NOT NULL,
    parent_group_id uuid,
    name text NOT NULL,
    display_name text,
    description text,
    group_type text DEFAULT 'team'::text NOT NULL,
    inherit_resources boolean DEFAULT true NOT NULL,
    eu_ai_act_risk_tier text,
    phi_resource boolean,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    branches_left integer DEFAULT 0 NOT NULL
);

CREATE TABLE public.routing_groups (
    tenant_id text NOT NULL,
    id text NOT NULL,
    model_id uuid NOT NULL,
    name text NOT NULL,
    description text,
    mode text DEFAULT 'chat'::text NOT NULL,
    routing_strategy text DEFAULT 'simple-shuffle'::text NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    allowed_fails bigint DEFAULT 3 NOT NULL,
    cooldown_time double precision DEFAULT 30 NOT NULL,
    cooldown_window double precision DEFAULT 60 NOT NULL,
    num_retries bigint DEFAULT 2 NOT NULL,
    retry_after double precision DEFAULT 0 NOT NULL,
    timeout double precision,
    rpm_limit bigint,
    tpm_limit bigint,
    max_parallel_requests bigint,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.run_feedback (
    tenant_id text NOT NULL,
    root_task_id text NOT NULL,
    end_user_id uuid NOT NULL,
    score integer NOT NULL,
    comment text,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT run_feedback_score_check CHECK ((score = ANY (ARRAY[1, '-1'::integer])))
);

CREATE TABLE public.run_hourly (
    tenant_id text NOT NULL,
    resource_group_id text NOT NULL,
    hour timestamp with time zone NOT NULL,
    runs bigint DEFAULT 0 NOT NULL,
    open bigint DEFAULT 0 NOT NULL,
    completed bigint DEFAULT 0 NOT NULL,
    completed_degraded bigint DEFAULT 0 NOT NULL,
    exhausted bigint DEFAULT 0 NOT NULL,
    errored bigint DEFAULT 0 NOT NULL,
    blocked_policy bigint DEFAULT 0 NOT NULL,
    cancelled bigint DEFAULT 0 NOT NULL,
    ended_by_client bigint DEFAULT 0 NOT NULL,
    resolved bigint DEFAULT 0 NOT NULL,
    escalated bigint DEFAULT 0 NOT NULL,
    handed_off bigint DEFAULT 0 NOT NULL,
    abandoned_by_user bigint DEFAULT 0 NOT NULL,
    calls bigint DEFAULT 0 NOT NULL,
    llm_calls bigint DEFAULT 0 NOT NULL,
    tool_calls bigint DEFAULT 0 NOT NULL,
    tool_errors bigint DEFAULT 0 NOT NULL,
    errors bigint DEFAULT 0 NOT NULL,
    late_calls bigint DEFAULT 0 NOT NULL,
    asserted_calls bigint DEFAULT 0 NOT NULL,
    intact_calls bigint DEFAULT 0 NOT NULL,
    external_calls bigint DEFAULT 0 NOT NULL,
    prompt_tokens bigint DEFAULT 0 NOT NULL,
    completion_tokens bigint DEFAULT 0 NOT NULL,
    cost_micro_usd bigint DEFAULT 0 NOT NULL,
    unpriced_calls bigint DEFAULT 0 NOT NULL,
    longest bigint DEFAULT 0 NOT NULL
);

CREATE TABLE public.runs (
    tenant_id text NOT NULL,
    root_task_id text NOT NULL COLLATE pg_catalog."C",
    run_id text,
    resource_group_id text DEFAULT ''::text NOT NULL,
    participants text[] DEFAULT '{}'::text[] NOT NULL,
    state text DEFAULT 'open'::text NOT NULL,
    state_source text,
    outcome text,
    started_at timestamp with time zone NOT NULL,
    last_at timestamp with time zone,
    last_id text,
    last_result text,
    active_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    closed_at timestamp with time zone,
    calls bigint DEFAULT 0 NOT NULL,
    llm_calls bigint DEFAULT 0 NOT NULL,
    tool_calls bigint DEFAULT 0 NOT NULL,
    tool_errors bigint DEFAULT 0 NOT NULL,
    errors bigint DEFAULT 0 NOT NULL,
    late_calls bigint DEFAULT 0 NOT NULL,
    asserted_calls bigint DEFAULT 0 NOT NULL,
    intact_calls bigint DEFAULT 0 NOT NULL,
    external_calls bigint DEFAULT 0 NOT NULL,
    prompt_tokens bigint DEFAULT 0 NOT NULL,
    completion_tokens bigint DEFAULT 0 NOT NULL,
    cost_micro_usd bigint DEFAULT 0 NOT NULL,
    unpriced_calls bigint DEFAULT 0 NOT NULL,
    degraded boolean DEFAULT false NOT NULL
);

CREATE TABLE public.schema_migrations (
    name text NOT NULL,
    digest text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.semantic_cache_config_groups (
    config_id uuid NOT NULL,
    group_id uuid NOT NULL,
    tenant_id text NOT NULL
);

CREATE TABLE public.semantic_cache_configs (
    id uuid NOT NULL,
    tenant_id text NOT NULL,
    name text NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    scope text DEFAULT 'group'::text NOT NULL,
    exact_match jsonb NOT NULL,
    semantic_match jsonb NOT NULL,
    embedding_model_id uuid,
    max_temperature double precision DEFAULT 0 NOT NULL,
    include_tools boolean DEFAULT false NOT NULL,
    generation uuid NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.semantic_cache_entries (
    id text NOT NULL,
    tenant_id text NOT NULL,
    config_id uuid NOT NULL,
    exact_key text NOT NULL,
    space text,
    embedding bytea,
    model_id uuid NOT NULL,
    model_name text NOT NULL,
    answer jsonb NOT NULL,
    tokens bigint NOT NULL,
    call_id text NOT NULL,
    end_user_id uuid,
    api_key_id uuid,
    exact_until timestamp with time zone,
    semantic_until timestamp with time zone,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE public.semantic_policies (
    id uuid NOT NULL,
    tenant_id text NOT NULL,
    name text NOT NULL,
    description text,
    constraint_text text NOT NULL,
    action text NOT NULL,
    mode text NOT NULL,
    surfaces text[] NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    judge_model_id uuid,
    on_judge_failure text NOT NULL,
    timeout_seconds double precision NOT NULL,
    all_groups boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.semantic_policy_groups (
    policy_id uuid NOT NULL,
    group_id uuid NOT NULL,
    tenant_id text NOT NULL
);

CREATE TABLE public.server_config_groups (
    config_id uuid NOT NULL,
    group_id uuid NOT NULL,
    tenant_id text NOT NULL
);

CREATE TABLE public.server_configs (
    id uuid NOT NULL,
    tenant_id text NOT NULL,
    mcp_server_id text NOT NULL,
    name text NOT NULL,
    display_name text,
    description text,
    display_description text,
    enabled boolean DEFAULT true NOT NULL,
    priority bigint DEFAULT 0 NOT NULL,
    is_default boolean DEFAULT false NOT NULL,
    enabled_tools text[],
    disabled_tools text[] DEFAULT '{}'::text[] NOT NULL,
    approval_required_tools text[] DEFAULT '{}'::text[] NOT NULL,
    approval_timeout_seconds bigint DEFAULT 900 NOT NULL,
    approver_group_ids uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.tenants (
    id text NOT NULL,
    name text NOT NULL,
    display_name text,
    enabled boolean DEFAULT true NOT NULL,
    data_retention jsonb NOT NULL,
    default_judge_model_id uuid,
    allowed_regions text[] DEFAULT '{}'::text[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    run_idle_minutes bigint DEFAULT 30 NOT NULL,
    portal_registration text DEFAULT 'open'::text NOT NULL,
    CONSTRAINT tenants_portal_registration_check CHECK ((portal_registration = ANY (ARRAY['open'::text, 'closed'::text])))
);

CREATE TABLE public.tool_letters (
    id bigint NOT NULL,
    recipient text NOT NULL,
    body text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE public.tool_letters ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.tool_letters_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.tool_results_hourly (
    tenant_id text NOT NULL,
    hour timestamp with time zone NOT NULL,
    resource_group_id text NOT NULL,
    model_id text NOT NULL,
    results bigint NOT NULL
);

CREATE SEQUENCE public.tool_sessions_version
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE public.tool_sessions (
    tenant_id text NOT NULL,
    session text NOT NULL,
    uris text[] DEFAULT '{}'::text[] NOT NULL,
    log_level text,
    version bigint DEFAULT nextval('public.tool_sessions_version'::regclass) NOT NULL,
    used_at timestamp with time zone DEFAULT now() NOT NULL,
    ended boolean DEFAULT false NOT NULL
);

CREATE TABLE public.tool_usage_hourly (
    tenant_id text NOT NULL,
    hour timestamp with time zone NOT NULL,
    resource_group_id text NOT NULL,
    server_id text NOT NULL,
    calls bigint NOT NULL
);

CREATE TABLE public.usage_daily (
    tenant_id text NOT NULL,
    day date NOT NULL,
    resource_group_id text NOT NULL,
    llm_model_used text NOT NULL,
    requests bigint NOT NULL,
    errors bigint NOT NULL,
    prompt_tokens bigint NOT NULL,
    completion_tokens bigint NOT NULL,
    cost_micro_usd bigint NOT NULL,
    unpriced_requests bigint NOT NULL
);

CREATE TABLE public.usage_hourly (
    tenant_id text NOT NULL,
    hour timestamp with time zone NOT NULL,
    resource_group_id text NOT NULL,
    api_key_id text NOT NULL,
    llm_model_used text NOT NULL,
    requests bigint NOT NULL,
    errors bigint NOT NULL,
    prompt_tokens bigint NOT NULL,
    completion_tokens bigint NOT NULL,
    cost_micro_usd bigint NOT NULL,
    unpriced_requests bigint NOT NULL
);

CREATE TABLE public.virtual_servers (
    id text NOT NULL,
    tenant_id text NOT NULL,
    name text NOT NULL,
    display_name text,
    description text,
    enabled boolean DEFAULT true NOT NULL,
    members jsonb DEFAULT '[]'::jsonb NOT NULL,
    group_ids uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY public.audit_rows ATTACH PARTITION public.audit_rows_2026_11 FOR VALUES FROM ('01M6A6FT00') TO ('01M8QEDC00');

ALTER TABLE ONLY public.audit_rows ATTACH PARTITION public.audit_rows_2026_12 FOR VALUES FROM ('01M8QEDC00') TO ('01MB78QN00');

ALTER TABLE ONLY public.audit_rows ATTACH PARTITION public.audit_rows_rest DEFAULT;

INSERT INTO public.admin_log VALUES
	('01M83KQDC66C51W5YND2NYPH9S', NULL, '2026-11-23 07:08:03.334+00', NULL, NULL, NULL, 'create', 'admin-users', '7ae599e5-893d-4c56-8ec8-e36406c879a6', NULL, '{"id": "7ae599e5-893d-4c56-8ec8-e36406c879a6", "role": "system_admin", "email": null, "password": "***", "username": "admin", "is_active": true, "tenant_id": null, "created_at": "2026-11-23T07:08:02.442Z", "last_login": null, "updated_at": "2026-11-23T07:08:02.442Z", "display_name": null}', NULL, NULL, 1, '0000000000000000000000000000000000000000000000000000000000000000', 'a03bfd5abb1f9c413c87cb28f8f5cb45cb7c3db5c029ad5de277327a0e945d5d'),
	('01M83KQDC73B4JMCX5MVEF17DS', 'default', '2026-11-23 07:08:03.334+00', NULL, NULL, NULL, 'create', 'tenants', 'default', NULL, '{"id": "default", "name": "default", "enabled": true, "created_at": "2026-11-23T07:08:02.442Z", "updated_at": "2026-11-23T07:08:02.442Z", "display_name": "Default", "data_retention": {"log_days": 400, "run_days": 400, "body_days": 30, "store_bodies": "redacted"}, "allowed_regions": [], "run_idle_minutes": 30, "portal_registration": "open", "default_judge_model_id": null}', NULL, NULL, 2, 'a03bfd5abb1f9c413c87cb28f8f5cb45cb7c3db5c029ad5de277327a0e945d5d', 'bb6124690b34c785aabf488ee69633ade01c18c2c2c8d4ecdbb77b8d19ff08d7'),
	('01M83KQDC73B4JMCX5MVEF17DT', 'default', '2026-11-23 07:08:03.334+00', NULL, NULL, NULL, 'create', 'resource-groups', '1e525617-8001-4d40-b65d-d1e6e71dac7c', NULL, '{"id": "1e525617-8001-4d40-b65d-d1e6e71dac7c", "name": "default", "tenant_id": "default", "created_at": "2026-11-23T07:08:02.442Z", "group_type": "team", "updated_at": "2026-11-23T07:08:02.442Z", "description": null, "display_name": "Default", "phi_resource": null, "parent_group_id": null, "inherit_resources": true, "eu_ai_act_risk_tier": null}', NULL, NULL, 3, 'bb6124690b34c785aabf488ee69633ade01c18c2c2c8d4ecdbb77b8d19ff08d7', '6aebbbfefed6e6aee0ae8af3d7ce5f60a52bc52b17121b488da21f780f954ce5'),
	('01M83KQDC73B4JMCX5MVEF17DV', 'default', '2026-11-23 07:08:03.334+00', NULL, NULL, NULL, 'create', 'api-keys', 'a273f41e-77dd-4b16-98d8-89855abeb295', NULL, '{"id": "a273f41e-77dd-4b16-98d8-89855abeb295", "name": "quick start", "scope": "global", "status": "active", "key_hint": "Q234", "tenant_id": "default", "created_at": "2026-11-23T07:08:02.442Z", "expires_at": null, "revoked_at": null, "updated_at": "2026-11-23T07:08:02.442Z", "access_mode": "shared", "end_user_id": null, "last_used_at": null, "allowed_skill_ids": null, "resource_group_id": "1e525617-8001-4d40-b65d-d1e6e71dac7c", "previous_valid_until": null}', NULL, NULL, 4, '6aebbbfefed6e6aee0ae8af3d7ce5f60a52bc52b17121b488da21f780f954ce5', '5fd4d82f5c4ceb9a7e67a6a16ccbec6f6d15d4b1d1dda23a9d9701da6eb67bfb'),
	('01M83KQDC73B4JMCX5MVEF17DW', 'default', '2026-11-23 07:08:03.334+00', NULL, NULL, NULL, 'create', 'end-users', 'd0c38981-1f3c-44ff-ac7b-4213af80397e', NULL, '{"id": "d0c38981-1f3c-44ff-ac7b-4213af80397e", "password": "***", "is_active": true, "tenant_id": "default", "created_at": "2026-11-23T07:08:02.442Z", "last_login": null, "updated_at": "2026-11-23T07:08:02.442Z", "is_verified": false, "totp_enabled": false, "primary_group_id": "1e525617-8001-4d40-b65d-d1e6e71dac7c"}', NULL, NULL, 5, '5fd4d82f5c4ceb9a7e67a6a16ccbec6f6d15d4b1d1dda23a9d9701da6eb67bfb', '6c2d6f1568e9ed1f28d52d9de86a49d11661b974d35955238a5a769d9df45be8'),
	('01M83KQDC73B4JMCX5MVEF17DX', 'default', '2026-11-23 07:08:03.334+00', NULL, NULL, NULL, 'create', 'providers', '709db714-d85b-4a15-b13b-381120c1898e', NULL, '{"id": "709db714-d85b-4a15-b13b-381120c1898e", "name": "Echo", "region": null, "enabled": true, "headers": {}, "base_url": null, "tenant_id": "default", "api_format": "echo", "created_at": "2026-11-23T07:08:02.442Z", "updated_at": "2026-11-23T07:08:02.442Z", "has_api_key": false, "api_key_hint": null, "provider_key": "echo", "max_tokens_parameter": null}', NULL, NULL, 6, '6c2d6f1568e9ed1f28d52d9de86a49d11661b974d35955238a5a769d9df45be8', '37b6a4da0df9b392d70f9610a6092263ed709f1031599d2105ce1e1fd0d478f1'),
	('01M83KQDC73B4JMCX5MVEF17DY', 'default', '2026-11-23 07:08:03.334+00', NULL, NULL, NULL, 'create', 'models', '06ee5477-16f2-4fa0-a12c-c29489f919ba', NULL, '{"id": "06ee5477-16f2-4fa0-a12c-c29489f919ba", "mode": "chat", "name": "echo", "modes": ["chat"], "enabled": true, "base_url": null, "icon_url": null, "provider": "echo", "group_ids": ["1e525617-8001-4d40-b65d-d1e6e71dac7c"], "tenant_id": "default", "created_at": "2026-11-23T07:08:02.442Z", "image_cost": null, "is_healthy": null, "model_name": "echo", "updated_at": "2026-11-23T07:08:02.442Z", "description": "Answers with the caller''s own last message. No model: it is there so that the first call works offline.", "has_api_key": false, "price_tiers": [], "provider_id": "709db714-d85b-4a15-b13b-381120c1898e", "api_key_hint": null, "price_changes": [], "system_prompt": null, "context_window": null, "rate_limit_rpm": null, "rate_limit_tpm": null, "routing_weight": 1, "supports_tools": true, "supports_vision": false, "residency_region": null, "routing_group_id": null, "health_checked_at": null, "max_output_tokens": null, "supports_sampling": null, "default_max_tokens": null, "supports_streaming": true, "default_temperature": null, "max_tokens_parameter": null, "supports_file_uploads": false, "supports_system_turns": null, "video_cost_per_second": null, "max_concurrent_requests": null, "supported_image_qualities": [], "supported_video_durations": [], "max_video_duration_seconds": null, "audio_input_cost_per_second": null, "supported_video_resolutions": [], "web_search_cost_per_thousand": null, "input_cost_per_million_tokens": 0, "output_cost_per_million_tokens": 0, "cache_read_cost_per_million_tokens": null, "audio_input_cost_per_million_tokens": null, "cache_write_cost_per_million_tokens": null, "audio_output_cost_per_million_tokens": null, "audio_output_cost_per_million_characters": null, "cache_write_hour_cost_per_million_tokens": null}', NULL, NULL, 7, '37b6a4da0df9b392d70f9610a6092263ed709f1031599d2105ce1e1fd0d478f1', 'cb96a24fc58cf5ed5caf6829c6ffc8992ee9120a4ad79dde1c9becc82adfd157');

INSERT INTO public.admin_log_checkpoints VALUES
	(1, 7, 'gw.audit/admin-log
7
y5aiT8WM9e1cr2gpxv/ImS7pEgpK153eHJvsyCrf0Vc=
time 2026-11-23T07:08:30.409550Z
first 1
previous -

— gw.audit Mdxjk7hbW2gxtv3xfBLE36ep2mrqPgk+4USfub89Vcotq+FyVS8lQ2nzNUM1M9C377gFC21T2ZWMkkbamkiCfyfPQgQ=
', '2026-11-23 07:08:30.40955+00');

INSERT INTO public.admin_log_head VALUES
	(true, 7, 'cb96a24fc58cf5ed5caf6829c6ffc8992ee9120a4ad79dde1c9becc82adfd157', '2026-11-23 07:08:02.442454+00');

INSERT INTO public.admin_users VALUES
	('7ae599e5-893d-4c56-8ec8-e36406c879a6', NULL, 'admin', NULL, NULL, '$argon2id$v=19$m=19456,t=2,p=1$neh6YEKWeCcNohP79QEyHA9wjaCKWqJ7E0TPuFg7rY8$Cgc+QgJLfUgWyIm27SBqXcwVslZ4qPQ6zthi7IAcrA4', 'system_admin', true, '2026-11-23 07:08:02.442+00', NULL, '2026-11-23 07:08:02.442+00', '2026-11-23 07:08:02.442+00');

INSERT INTO public.api_keys VALUES
	('a273f41e-77dd-4b16-98d8-89855abeb295', 'default', 'quick start', 'global', 'shared', '1e525617-8001-4d40-b65d-d1e6e71dac7c', NULL, NULL, 'd4e46dfe5c80cc078578e6a19aa82516641d545963a633b01f79f5fc4ba4e469', 'Q234', NULL, NULL, NULL, NULL, '2026-11-23 07:08:22.369+00', '2026-11-23 07:08:02.442+00', '2026-11-23 07:08:02.442+00');

INSERT INTO public.audit_chains VALUES
	('01M83KQCAS3VE6RS9F5FY8V9E3', 'vm/01M83KQCAT5W0JK3WZ6MK4D179', 1, 5, '703f9ef6b0b60dfa0a4f44d65e14305829d41e7b3c40f3d78f301afb33913d62', 5, 1, 16192, '2026-11-23 07:08:02.278457+00', '2026-11-23 07:08:30.487953+00');

INSERT INTO public.audit_checkpoints VALUES
	('01M83KQCAS3VE6RS9F5FY8V9E3', 1, 5, 'gw.audit/01M83KQCAS3VE6RS9F5FY8V9E3
5
cD+e9rC2DfoKT0TWXhQwWCnUHns8QPPXjzAa+zORPWI=
time 2026-11-23T07:08:30.448431Z
first 1
previous -

— gw.audit Mdxjk+pA6t22P4wbvtX71QkNMXpZ5Nz+7Xw7ynYUkPXvVUU+3m44Y65n7BrWfgROx8exzeTLpidnCOdsAn7ThsxkMQo=
', '2026-11-23 07:08:30.448431+00');

INSERT INTO public.audit_keys VALUES
	('31dc6393', 'gw.audit', 'f2T6ubC1LEux3OkOBTCbVHsdBwfzDkAHrOmk1OvjYK8=', '2026-11-23 07:08:02.266273+00', NULL);

INSERT INTO public.audit_rows_2026_11 VALUES
	('01M83KQZVX09HSTM2QQHK6BEQR', 'default', '2026-11-23 07:08:22.269947+00', '2026-11-23 07:08:22.30213+00', 'llm', 'chat_completions', 'POST', '/v1/proxy/llm/chat/completions', 'echo:chat/completions', NULL, NULL, NULL, NULL, NULL, NULL, 'echo', 'echo', 'echo', 2, 2, 4, 0, false, NULL, NULL, false, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'a273f41e-77dd-4b16-98d8-89855abeb295', 'quick start', '1e525617-8001-4d40-b65d-d1e6e71dac7c', NULL, NULL, NULL, NULL, NULL, NULL, 'a273f41e-77dd-4b16-98d8-89855abeb295', 'service', NULL, '127.0.0.1', 'curl/7.88.1', NULL, '01M83KQZVX09HSTM2QQHK6BEQR', NULL, NULL, '01M83KQZVX09HSTM2QQHK6BEQR', NULL, NULL, NULL, NULL, 'minted', 'external_api', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'chatcmpl-echo-91b5b306', 65, 377, '{"host": "127.0.0.1:35825", "accept": "*/*", "user-agent": "curl/7.88.1", "content-type": "application/json", "content-length": "65", "x-gateway-run-id": "run-0"}', '{"x-gw-run-id": "01M83KQZVX09HSTM2QQHK6BEQR", "content-type": "application/json;charset=utf-8", "x-request-id": "01M83KQZVX09HSTM2QQHK6BEQR", "x-correlation-id": "01M83KQZVX09HSTM2QQHK6BEQR", "x-gw-ai-generated": "true"}', '{"model":"echo","messages":[{"role":"user","content":"Hello 1"}]}', '{"id":"chatcmpl-echo-91b5b306","created":1795417702,"model":"echo","system_fingerprint":"gatehouse-echo: repeats your last message, not a language model","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hello 1","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":2,"completion_tokens":2,"total_tokens":4}}', '031ceae87681cb05b8e2ad46f47ae91161a33b3c3d3586d7b5361769c4b00952', '5a4b8b571e894ecd97036a92d2ca2db138bc824ad4896c5a85b32556cd7d80b6', 200, true, NULL, NULL, 32, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'not_evaluated', NULL, NULL, NULL, NULL, '01M83KQCAS3VE6RS9F5FY8V9E3', 1, '0000000000000000000000000000000000000000000000000000000000000000', '7fb8db82346e2ee383d47ab5cbebb6495725d8b43a4e114a68e68778eab79a88', 'gateway', NULL, NULL, NULL, NULL),
	('01M83KQZXMAKX2MJZGF7A0R6CJ', 'default', '2026-11-23 07:08:22.324325+00', '2026-11-23 07:08:22.326128+00', 'llm', 'chat_completions', 'POST', '/v1/proxy/llm/chat/completions', 'echo:chat/completions', NULL, NULL, NULL, NULL, NULL, NULL, 'echo', 'echo', 'echo', 2, 2, 4, 0, false, NULL, NULL, false, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'a273f41e-77dd-4b16-98d8-89855abeb295', 'quick start', '1e525617-8001-4d40-b65d-d1e6e71dac7c', NULL, NULL, NULL, NULL, NULL, NULL, 'a273f41e-77dd-4b16-98d8-89855abeb295', 'service', NULL, '127.0.0.1', 'curl/7.88.1', NULL, '01M83KQZXMAKX2MJZGF7A0R6CJ', NULL, NULL, '01M83KQZXMAKX2MJZGF7A0R6CJ', NULL, NULL, NULL, NULL, 'minted', 'external_api', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'chatcmpl-echo-209a6e2f', 65, 377, '{"host": "127.0.0.1:35825", "accept": "*/*", "user-agent": "curl/7.88.1", "content-type": "application/json", "content-length": "65", "x-gateway-run-id": "run-1"}', '{"x-gw-run-id": "01M83KQZXMAKX2MJZGF7A0R6CJ", "content-type": "application/json;charset=utf-8", "x-request-id": "01M83KQZXMAKX2MJZGF7A0R6CJ", "x-correlation-id": "01M83KQZXMAKX2MJZGF7A0R6CJ", "x-gw-ai-generated": "true"}', '{"model":"echo","messages":[{"role":"user","content":"Hello 2"}]}', '{"id":"chatcmpl-echo-209a6e2f","created":1795417702,"model":"echo","system_fingerprint":"gatehouse-echo: repeats your last message, not a language model","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hello 2","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":2,"completion_tokens":2,"total_tokens":4}}', 'fb9cc10a675a669fa8ecc18a56427f6683f0f0b4456749fbaf16d2626a193a6e', '79700ebdde64cbfb1e66e1591fe488a4e4274f8c15457680f2d9cc4e5a4f7e3a', 200, true, NULL, NULL, 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'not_evaluated', NULL, NULL, NULL, NULL, '01M83KQCAS3VE6RS9F5FY8V9E3', 2, '7fb8db82346e2ee383d47ab5cbebb6495725d8b43a4e114a68e68778eab79a88', '5bee9356a33ecb57b06c95aaff7561868d14875de42ba684c8355076e52b9b54', 'gateway', NULL, NULL, NULL, NULL),
	('01M83KQZY9WAWYAT8MD3DP2HBK', 'default', '2026-11-23 07:08:22.34503+00', '2026-11-23 07:08:22.34622+00', 'llm', 'chat_completions', 'POST', '/v1/proxy/llm/chat/completions', 'echo:chat/completions', NULL, NULL, NULL, NULL, NULL, NULL, 'echo', 'echo', 'echo', 2, 2, 4, 0, false, NULL, NULL, false, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'a273f41e-77dd-4b16-98d8-89855abeb295', 'quick start', '1e525617-8001-4d40-b65d-d1e6e71dac7c', NULL, NULL, NULL, NULL, NULL, NULL, 'a273f41e-77dd-4b16-98d8-89855abeb295', 'service', NULL, '127.0.0.1', 'curl/7.88.1', NULL, '01M83KQZY9WAWYAT8MD3DP2HBK', NULL, NULL, '01M83KQZY9WAWYAT8MD3DP2HBK', NULL, NULL, NULL, NULL, 'minted', 'external_api', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'chatcmpl-echo-ae4221cc', 65, 377, '{"host": "127.0.0.1:35825", "accept": "*/*", "user-agent": "curl/7.88.1", "content-type": "application/json", "content-length": "65", "x-gateway-run-id": "run-1"}', '{"x-gw-run-id": "01M83KQZY9WAWYAT8MD3DP2HBK", "content-type": "application/json;charset=utf-8", "x-request-id": "01M83KQZY9WAWYAT8MD3DP2HBK", "x-correlation-id": "01M83KQZY9WAWYAT8MD3DP2HBK", "x-gw-ai-generated": "true"}', '{"model":"echo","messages":[{"role":"user","content":"Hello 3"}]}', '{"id":"chatcmpl-echo-ae4221cc","created":1795417702,"model":"echo","system_fingerprint":"gatehouse-echo: repeats your last message, not a language model","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hello 3","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":2,"completion_tokens":2,"total_tokens":4}}', 'dc240b4475f40d485b262f75f9222f5a3c55baefaed430950544b13aaed908bf', '6bb8ecf05fde88e3059a355fe6f99951ab6df3cdad16baaf30eb0acb745d600d', 200, true, NULL, NULL, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'not_evaluated', NULL, NULL, NULL, NULL, '01M83KQCAS3VE6RS9F5FY8V9E3', 3, '5bee9356a33ecb57b06c95aaff7561868d14875de42ba684c8355076e52b9b54', '4e54cf1259b3f18cb401fb80ccaeb80200ceb330f2bc1b3be6bc1ca62edb3a2d', 'gateway', NULL, NULL, NULL, NULL),
	('01M83KQZYMF6ER9A8RB05A6G6F', 'default', '2026-11-23 07:08:22.356103+00', '2026-11-23 07:08:22.357264+00', 'llm', 'chat_completions', 'POST', '/v1/proxy/llm/chat/completions', 'echo:chat/completions', NULL, NULL, NULL, NULL, NULL, NULL, 'echo', 'echo', 'echo', 2, 2, 4, 0, false, NULL, NULL, false, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'a273f41e-77dd-4b16-98d8-89855abeb295', 'quick start', '1e525617-8001-4d40-b65d-d1e6e71dac7c', NULL, NULL, NULL, NULL, NULL, NULL, 'a273f41e-77dd-4b16-98d8-89855abeb295', 'service', NULL, '127.0.0.1', 'curl/7.88.1', NULL, '01M83KQZYMF6ER9A8RB05A6G6F', NULL, NULL, '01M83KQZYMF6ER9A8RB05A6G6F', NULL, NULL, NULL, NULL, 'minted', 'external_api', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'chatcmpl-echo-c33fa5f5', 65, 377, '{"host": "127.0.0.1:35825", "accept": "*/*", "user-agent": "curl/7.88.1", "content-type": "application/json", "content-length": "65", "x-gateway-run-id": "run-2"}', '{"x-gw-run-id": "01M83KQZYMF6ER9A8RB05A6G6F", "content-type": "application/json;charset=utf-8", "x-request-id": "01M83KQZYMF6ER9A8RB05A6G6F", "x-correlation-id": "01M83KQZYMF6ER9A8RB05A6G6F", "x-gw-ai-generated": "true"}', '{"model":"echo","messages":[{"role":"user","content":"Hello 4"}]}', '{"id":"chatcmpl-echo-c33fa5f5","created":1795417702,"model":"echo","system_fingerprint":"gatehouse-echo: repeats your last message, not a language model","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hello 4","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":2,"completion_tokens":2,"total_tokens":4}}', '30fa92755abc5dfd7e733b38a6ea665610d0d6e3a55dcb51c09608f8b1f95b74', '832c22b4ddce8172593b572410c88eb538d73b4899503e7d0e62405d88af43fb', 200, true, NULL, NULL, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'not_evaluated', NULL, NULL, NULL, NULL, '01M83KQCAS3VE6RS9F5FY8V9E3', 4, '4e54cf1259b3f18cb401fb80ccaeb80200ceb330f2bc1b3be6bc1ca62edb3a2d', 'a6323c85f21e95abe6d3f65aab72cac60843e82c6fd73036f509bd8f3461e3a9', 'gateway', NULL, NULL, NULL, NULL),
	('01M83KQZZ0YD810424ESFZYXQ0', 'default', '2026-11-23 07:08:22.368419+00', '2026-11-23 07:08:22.370264+00', 'llm', 'chat_completions', 'POST', '/v1/proxy/llm/chat/completions', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'a273f41e-77dd-4b16-98d8-89855abeb295', 'quick start', '1e525617-8001-4d40-b65d-d1e6e71dac7c', NULL, NULL, NULL, NULL, NULL, NULL, 'a273f41e-77dd-4b16-98d8-89855abeb295', 'service', NULL, '127.0.0.1', 'curl/7.88.1', NULL, '01M83KQZZ0YD810424ESFZYXQ0', NULL, NULL, '01M83KQZZ0YD810424ESFZYXQ0', NULL, NULL, NULL, NULL, 'minted', 'external_api', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 30, 102, '{"host": "127.0.0.1:35825", "accept": "*/*", "user-agent": "curl/7.88.1", "content-type": "application/json", "content-length": "30"}', '{"x-gw-run-id": "01M83KQZZ0YD810424ESFZYXQ0", "content-type": "application/json", "x-request-id": "01M83KQZZ0YD810424ESFZYXQ0", "x-correlation-id": "01M83KQZZ0YD810424ESFZYXQ0"}', '{"model":"nope","messages":[]}', '{"error":"The request body is not valid. `messages` must be a non-empty array.","code":"invalid_body"}', 'd6234a1cef9b1ac7180d2ec72339412ba43edd659cbe594132886558dd09ec22', 'ed3290c8f70f11d929d5fafe806e3606fd9766432a9a75be1da8a0be36cd25ee', 400, false, 'invalid_body', 'The request body is not valid.', 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '01M83KQCAS3VE6RS9F5FY8V9E3', 5, 'a6323c85f21e95abe6d3f65aab72cac60843e82c6fd73036f509bd8f3461e3a9', '703f9ef6b0b60dfa0a4f44d65e14305829d41e7b3c40f3d78f301afb33913d62', 'gateway', NULL, NULL, NULL, NULL);

INSERT INTO public.config_changes VALUES
	(1, 'default', 'tenant', NULL, '2026-11-23 07:08:02.442454+00'),
	(2, 'default', 'policy', NULL, '2026-11-23 07:08:02.442454+00'),
	(3, 'default', 'api_key', 'd4e46dfe5c80cc078578e6a19aa82516641d545963a633b01f79f5fc4ba4e469', '2026-11-23 07:08:02.442454+00'),
	(4, 'default', 'end_user', 'd0c38981-1f3c-44ff-ac7b-4213af80397e', '2026-11-23 07:08:02.442454+00');

INSERT INTO public.config_version VALUES
	(true, 4);

INSERT INTO public.end_users VALUES
	('d0c38981-1f3c-44ff-ac7b-4213af80397e', 'default', 'user', NULL, NULL, '$argon2id$v=19$m=19456,t=2,p=1$qtoZ+tep8ygxgqbmLmVoCx5jlNMt6TSpWTuM2cPyJ9w$8Hl8FFYUIOnUhmk5mt2VZLzWjyNf72TTUT2yPgmDWIE', true, false, '{}', NULL, false, '1e525617-8001-4d40-b65d-d1e6e71dac7c', NULL, '2026-11-23 07:08:02.442+00', '2026-11-23 07:08:02.442+00', '2026-11-23 07:08:02.442+00', '1e525617-8001-4d40-b65d-d1e6e71dac7c', NULL, NULL);

INSERT INTO public.model_usage_daily VALUES
	('default', '2026-11-23', '1e525617-8001-4d40-b65d-d1e6e71dac7c', '06ee5477-16f2-4fa0-a12c-c29489f919ba', 4, 16, 0);

INSERT INTO public.models VALUES
	('06ee5477-16f2-4fa0-a12c-c29489f919ba', 'default', '709db714-d85b-4a15-b13b-381120c1898e', 'echo', 'echo', 'Answers with the caller''s own last message. No model: it is there so that the first call works offline.', '{chat}', true, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, false, true, false, true, NULL, NULL, NULL, NULL, NULL, '2026-11-23 07:08:02.442+00', '2026-11-23 07:08:02.442+00', NULL, 1, NULL, '[]', '[]', NULL, NULL, NULL, NULL, '{}', '{}', '{}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);

INSERT INTO public.providers VALUES
	('709db714-d85b-4a15-b13b-381120c1898e', 'default', 'echo', 'Echo', 'echo', NULL, NULL, NULL, '{}', NULL, true, '2026-11-23 07:08:02.442+00', '2026-11-23 07:08:02.442+00', NULL);

INSERT INTO public.resource_group_models VALUES
	('1e525617-8001-4d40-b65d-d1e6e71dac7c', '06ee5477-16f2-4fa0-a12c-c29489f919ba', 'default', true, '2026-11-23 07:08:02.442454+00');

INSERT INTO public.resource_groups VALUES
	('1e525617-8001-4d40-b65d-d1e6e71dac7c', 'default', NULL, 'default', 'Default', NULL, 'team', true, NULL, NULL, '2026-11-23 07:08:02.442+00', '2026-11-23 07:08:02.442+00', 0);

INSERT INTO public.run_hourly VALUES
	('default', '1e525617-8001-4d40-b65d-d1e6e71dac7c', '2026-11-23 07:00:00+00', 5, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 5, 0, 0, 1, 0, 0, 5, 0, 8, 8, 0, 0, 1);

INSERT INTO public.runs VALUES
	('default', '01M83KQZVX09HSTM2QQHK6BEQR', NULL, '1e525617-8001-4d40-b65d-d1e6e71dac7c', '{a273f41e-77dd-4b16-98d8-89855abeb295}', 'open', NULL, NULL, '2026-11-23 07:08:22.269947+00', '2026-11-23 07:08:22.269947+00', '01M83KQZVX09HSTM2QQHK6BEQR', 'completed', '2026-11-23 07:08:22.30213+00', NULL, NULL, 1, 1, 0, 0, 0, 0, 0, 1, 0, 2, 2, 0, 0, false),
	('default', '01M83KQZXMAKX2MJZGF7A0R6CJ', NULL, '1e525617-8001-4d40-b65d-d1e6e71dac7c', '{a273f41e-77dd-4b16-98d8-89855abeb295}', 'open', NULL, NULL, '2026-11-23 07:08:22.324325+00', '2026-11-23 07:08:22.324325+00', '01M83KQZXMAKX2MJZGF7A0R6CJ', 'completed', '2026-11-23 07:08:22.326128+00', NULL, NULL, 1, 1, 0, 0, 0, 0, 0, 1, 0, 2, 2, 0, 0, false),
	('default', '01M83KQZY9WAWYAT8MD3DP2HBK', NULL, '1e525617-8001-4d40-b65d-d1e6e71dac7c', '{a273f41e-77dd-4b16-98d8-89855abeb295}', 'open', NULL, NULL, '2026-11-23 07:08:22.34503+00', '2026-11-23 07:08:22.34503+00', '01M83KQZY9WAWYAT8MD3DP2HBK', 'completed', '2026-11-23 07:08:22.34622+00', NULL, NULL, 1, 1, 0, 0, 0, 0, 0, 1, 0, 2, 2, 0, 0, false),
	('default', '01M83KQZYMF6ER9A8RB05A6G6F', NULL, '1e525617-8001-4d40-b65d-d1e6e71dac7c', '{a273f41e-77dd-4b16-98d8-89855abeb295}', 'open', NULL, NULL, '2026-11-23 07:08:22.356103+00', '2026-11-23 07:08:22.356103+00', '01M83KQZYMF6ER9A8RB05A6G6F', 'completed', '2026-11-23 07:08:22.357264+00', NULL, NULL, 1, 1, 0, 0, 0, 0, 0, 1, 0, 2, 2, 0, 0, false),
	('default', '01M83KQZZ0YD810424ESFZYXQ0', NULL, '1e525617-8001-4d40-b65d-d1e6e71dac7c', '{a273f41e-77dd-4b16-98d8-89855abeb295}', 'open', NULL, NULL, '2026-11-23 07:08:22.368419+00', '2026-11-23 07:08:22.368419+00', '01M83KQZZ0YD810424ESFZYXQ0', 'errored', '2026-11-23 07:08:22.370264+00', NULL, NULL, 1, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, false);

INSERT INTO public.schema_migrations VALUES
	('0001_directory.sql', 'c8fdb4b82a3b4a10155cc32e40d77d4a0894dd8f2727d495345c115031033d39', '2026-11-23 07:08:00.228018+00'),
	('0002_ledger.sql', 'eea05cefcb6aba7644656dde453d767beeddbcb832e404de6571b425ceab76c8', '2026-11-23 07:08:00.363485+00'),
	('0003_routing.sql', '087409d2a780430d9a0207370d3149259ca12a2a55cacdf233a19f96def55009', '2026-11-23 07:08:00.394727+00'),
	('0004_limits.sql', '0c0ac83b77a8ffc323f20ac45b5b2d5710b814154112f5a863897d30cce9a6d4', '2026-11-23 07:08:00.44148+00'),
	('0006_kept_signatures.sql', '11f7851ed1a374e1b968a431a5890bdd52c01d8467523f0aa2ab6782d2977cfa', '2026-11-23 07:08:00.59342+00'),
	('0007_virtual_model_bindings.sql', '82bd3939bead20a756f6b1953fbd4db308861ac10e495b7c26d15b2f304d931e', '2026-11-23 07:08:00.608288+00'),
	('0008_model_dialects.sql', 'b615c8dfeb64bc03ff75c50cfc2de145105bf29cda4de0233a9ba138bb14f449', '2026-11-23 07:08:00.655128+00'),
	('0009_audio_and_search_prices.sql', '653bd0d54dbc285e688f94ec58e49329d8ef7f61ceccff95b5ab31fc7883e9b0', '2026-11-23 07:08:00.660302+00'),
	('0010_partitions.sql', 'c96ce2701f394740ae7161e540b1419f4d022d10ffa83239e1163a3e87270410', '2026-11-23 07:08:00.663931+00'),
	('0011_runs.sql', '693b3299f51098ee6e8b4d0942044d36a8f507a413782a093fa0bb265db71954', '2026-11-23 07:08:01.033205+00'),
	('0012_admin_chain.sql', 'e09ff1184ea11bd50ce7b3fb7f520f4cb4a8ac9f58eef4a1597787b8c59138d6', '2026-11-23 07:08:01.209984+00'),
	('0013_retention.sql', '239f519fc61a00d5a8b9c2216e05f6137361b72aa96d7ff0202777240eccfa46', '2026-11-23 07:08:01.225119+00'),
	('0014_row_indexes.sql', 'e1d0827d9b617cabafb436a6765b6acdc4ebeba58f174f446b34042d0eb8f7a8', '2026-11-23 07:08:01.246061+00'),
	('0020_tool_servers.sql', '76404ea71ae0ea128bc618577ca687825f6e9e424ea7ed12f48bf96d18e76f3c', '2026-11-23 07:08:01.444171+00'),
	('0021_tool_letters.sql', '0ff65b2569b2cb9c459f9b66863e867f8018cfced75f299649b7c20e3208c42f', '2026-11-23 07:08:01.540901+00'),
	('0025_oauth.sql', '30b661d6c307f0651c40dee51c63692d06ac075cd8a191649cb4ace0fd30bba9', '2026-11-23 07:08:01.562681+00'),
	('0030_people.sql', '04402a292dc4f57152371670f5d66710a61b515e19f125bff73eab3d4e3046c7', '2026-11-23 07:08:01.633028+00'),
	('0031_notices.sql', '17f19c2ab9003514a7ee210e616c0ec376bac2612da50d99419913b82b7ca66c', '2026-11-23 07:08:01.739808+00'),
	('0032_portal_feed.sql', 'd6fc1329a2bf053704a1d52370bc0dcb5e985995f3b4e13ba3a815649e8205d5', '2026-11-23 07:08:01.776348+00'),
	('0033_approval_feed.sql', '744be62f34ad81a24d0ecdc8c3a5439bfa6b94a4c77e5fa5fc6a2afe7dd205d6', '2026-11-23 07:08:01.780157+00'),
	('0040_guardrails.sql', '6c3f4b4e394a1e405959840b175a4b3d55738a85dc1d5e9722e436ac6b1b30b7', '2026-11-23 07:08:01.78543+00'),
	('0045_semantic_cache.sql', '9e2feb2574d82607977776bdf56208d1d022790ee77878cc2e0ffd307471be37', '2026-11-23 07:08:01.798178+00'),
	('0046_semantic_policies.sql', '44a6607daf5c33d140e5fdb148a4066119e33d81bb44bbece5884d9f9f958db1', '2026-11-23 07:08:01.841636+00'),
	('0050_argument_policies.sql', 'd486f7e0256accf4b8aad9598c07d1b5fcb33320fdee72fd2321155802bfdf09', '2026-11-23 07:08:01.880214+00'),
	('0064_run_totals.sql', '5b9b7ddaad6371861da13727e9c7735f45eb51e30b35af56a8347f7f0c728c10', '2026-11-23 07:08:01.902831+00'),
	('0065_row_blocks.sql', 'd8a7579cefd0935d1dc5ec38939fe0b27f9d9fa13e105909dd8194df1aa74ab5', '2026-11-23 07:08:01.94323+00'),
	('0069_approval_sessions.sql', '49e0c19a000c70189af181917df7cdcf5c08c7d24bf1e731ed96ec88d799e7a2', '2026-11-23 07:08:02.139442+00'),
	('0070_tool_usage.sql', '9d50353441956ca81ed47e4f8d9d0d0ecc4628b346bae05fdeac8727aac4a140', '2026-11-23 07:08:02.144916+00'),
	('0072_erased_accounts.sql', 'd707133c156737ff77118c97a8f3a67afbf0f0963999fb8cc4cfbcc70d40a40c', '2026-11-23 07:08:02.153557+00'),
	('0074_tool_results.sql', '352a6399d210abf0e7f061d5ba7aa4d749fb2b56bf1f3f3469325b00042e86c9', '2026-11-23 07:08:02.155002+00'),
	('0076_described_headers.sql', '32c002f3b734c395094cd961537144af5e3d7d892a4c1c06856be4f25bd6dc9d', '2026-11-23 07:08:02.157254+00'),
	('0077_run_orders.sql', '194505bc00397208ad5cae1263c58d613b43fe54ac33835f0f45aa3dac68e5dc', '2026-11-23 07:08:02.162614+00'),
	('0080_exact_approval_arguments.sql', '6d695a8f59582bdf89fda426f28a9edd2ffea38c2959c35afa1e7daeade82df0', '2026-11-23 07:08:02.167284+00'),
	('0081_tool_sessions.sql', '4415f0cb8fcf0dfd786fbf2ee3b9adc65404a9cca7a7c6de19029a301c595fdf', '2026-11-23 07:08:02.173153+00'),
	('0083_gone_items.sql', '93801b9eb13191fda1d6d37a742f5b67ba04d4fd4d95c96757d94c79a37a6dab', '2026-11-23 07:08:02.180878+00'),
	('0084_gone_tenants.sql', '47fccfd92b0dffffcf2fcafa0ac4511eabeb5585bf7b92b2b97d5e4636607031', '2026-11-23 07:08:02.183147+00'),
	('0085_gone_groups.sql', '0ec0cf929452b104088b1691f818c6ccfa933ab33f9f74f002bf3d9a54a7acd1', '2026-11-23 07:08:02.186851+00'),
	('0086_model_usage.sql', '3d263add3d6f6db51c4ab82b3e40ed48410c0c596d698482402fddc8605b2e96', '2026-11-23 07:08:02.194337+00'),
	('0087_pruned_run_hours.sql', 'd45853e335e81168fdec6fb15113bf2aafb08fc4b9fa28db447c64dc391e2e07', '2026-11-23 07:08:02.208935+00'),
	('0088_names_of_people.sql', 'cfca9c106f67faa4d4f36f178bbb5bdf6a6e9cda98909ed486e5e7f8c7ae2955', '2026-11-23 07:08:02.212777+00'),
	('0089_heirs_and_renewals.sql', '2b1ee4652a845e15fa9b156681a129f8137b99e11d83c6feb3cccca3a35974a5', '2026-11-23 07:08:02.216775+00'),
	('0090_approval_definitions.sql', '0ebc9ddc62cc1a55814138fc5415ced46e802f8f31229b9b792737e4c275361d', '2026-11-23 07:08:02.219942+00'),
	('0091_ended_tool_sessions.sql', '476d251ea644531ddccde36d72c2ecf3edf6a2c662d77083b17fbdd5339adf8a', '2026-11-23 07:08:02.222429+00'),
	('0093_handshake_of_stateless_servers.sql', '70a7ef98e8e657efa8f4b96203044aa058d5a8ea2c2d21af178ca815d02406bc', '2026-11-23 07:08:02.224178+00'),
	('0095_large_tenants.sql', '80cea1d43dcab40008c0013a84f3defd8baf74f89a02a13903e43474c4c3addd', '2026-11-23 07:08:02.227141+00'),
	('0097_branches_left.sql', '24a43ba6b7a4cc8b721bc1c66cdf52acd5f3233ad95356bf245c4d079074a633', '2026-11-23 07:08:02.249782+00');

INSERT INTO public.tenants VALUES
	('default', 'default', 'Default', true, '{"log_days": 400, "run_days": 400, "body_days": 30, "store_bodies": "redacted"}', NULL, '{}', '2026-11-23 07:08:02.442+00', '2026-11-23 07:08:02.442+00', 30, 'open');

INSERT INTO public.usage_daily VALUES
	('default', '2026-11-23', '1e525617-8001-4d40-b65d-d1e6e71dac7c', 'echo', 4, 0, 8, 8, 0, 0);

INSERT INTO public.usage_hourly VALUES
	('default', '2026-11-23 07:00:00+00', '1e525617-8001-4d40-b65d-d1e6e71dac7c', 'a273f41e-77dd-4b16-98d8-89855abeb295', 'echo', 4, 0, 8, 8, 0, 0);

SELECT pg_catalog.setval('public.audit_blocks_block_seq', 1, false);

SELECT pg_catalog.setval('public.tool_letters_id_seq', 1, false);

SELECT pg_catalog.setval('public.tool_sessions_version', 1, false);

ALTER TABLE ONLY public.admin_log
    ADD CONSTRAINT admin_log_chain_seq_key UNIQUE (chain_seq);

ALTER TABLE ONLY public.admin_log_checkpoints
    ADD CONSTRAINT admin_log_checkpoints_pkey PRIMARY KEY (checkpoint_no);

ALTER TABLE ONLY public.admin_log_head
    ADD CONSTRAINT admin_log_head_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY public.admin_log
    ADD CONSTRAINT admin_log_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.admin_users
    ADD CONSTRAINT admin_users_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.alert_acknowledgements
    ADD CONSTRAINT alert_acknowledgements_pkey PRIMARY KEY (alert_id, end_user_id);

ALTER TABLE ONLY public.alerts
    ADD CONSTRAINT alerts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.alerts
    ADD CONSTRAINT alerts_tenant_id_crossing_key UNIQUE (tenant_id, crossing);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_key_hash_key UNIQUE (key_hash);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_previous_hash_key UNIQUE (previous_hash);

ALTER TABLE ONLY public.approvals
    ADD CONSTRAINT approvals_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.argument_policies
    ADD CONSTRAINT argument_policies_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.argument_policies
    ADD CONSTRAINT argument_policies_tenant_id_name_key UNIQUE (tenant_id, name);

ALTER TABLE ONLY public.argument_policy_groups
    ADD CONSTRAINT argument_policy_groups_pkey PRIMARY KEY (policy_id, group_id);

ALTER TABLE ONLY public.audit_block_values
    ADD CONSTRAINT audit_block_values_pkey PRIMARY KEY (block, field, bucket);

ALTER TABLE ONLY public.audit_blocks
    ADD CONSTRAINT audit_blocks_from_id_key UNIQUE (from_id);

ALTER TABLE ONLY public.audit_blocks
    ADD CONSTRAINT audit_blocks_pkey PRIMARY KEY (block);

ALTER TABLE ONLY public.audit_blocks
    ADD CONSTRAINT audit_blocks_to_id_key UNIQUE (to_id);

ALTER TABLE ONLY public.audit_chains
    ADD CONSTRAINT audit_chains_pkey PRIMARY KEY (chain_id);

ALTER TABLE ONLY public.audit_checkpoints
    ADD CONSTRAINT audit_checkpoints_pkey PRIMARY KEY (chain_id, checkpoint_no);

ALTER TABLE ONLY public.audit_keys
    ADD CONSTRAINT audit_keys_pkey PRIMARY KEY (key_id);

ALTER TABLE ONLY public.audit_late_rows
    ADD CONSTRAINT audit_late_rows_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.audit_retention
    ADD CONSTRAINT audit_retention_pkey PRIMARY KEY (tenant_id);

ALTER TABLE ONLY public.audit_rows
    ADD CONSTRAINT audit_rows_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.audit_rows_2026_11
    ADD CONSTRAINT audit_rows_2026_11_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.audit_rows_2026_12
    ADD CONSTRAINT audit_rows_2026_12_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.audit_rows_rest
    ADD CONSTRAINT audit_rows_rest_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.config_changes
    ADD CONSTRAINT config_changes_pkey PRIMARY KEY (version);

ALTER TABLE ONLY public.config_version
    ADD CONSTRAINT config_version_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY public.conversation_notices
    ADD CONSTRAINT conversation_notices_pkey PRIMARY KEY (tenant_id, conversation_handle, method);

ALTER TABLE ONLY public.data_erasures
    ADD CONSTRAINT data_erasures_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.end_user_backup_codes
    ADD CONSTRAINT end_user_backup_codes_pkey PRIMARY KEY (end_user_id, slot);

ALTER TABLE ONLY public.end_user_group_members
    ADD CONSTRAINT end_user_group_members_pkey PRIMARY KEY (group_id, end_user_id, source);

ALTER TABLE ONLY public.end_user_groups
    ADD CONSTRAINT end_user_groups_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.end_user_groups
    ADD CONSTRAINT end_user_groups_tenant_id_name_key UNIQUE (tenant_id, name);

ALTER TABLE ONLY public.end_user_photos
    ADD CONSTRAINT end_user_photos_photo_id_key UNIQUE (photo_id);

ALTER TABLE ONLY public.end_user_photos
    ADD CONSTRAINT end_user_photos_pkey PRIMARY KEY (end_user_id);

ALTER TABLE ONLY public.end_users
    ADD CONSTRAINT end_users_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.former_model_names
    ADD CONSTRAINT former_model_names_pkey PRIMARY KEY (tenant_id, name, until);

ALTER TABLE ONLY public.gone_groups
    ADD CONSTRAINT gone_groups_pkey PRIMARY KEY (tenant_id, group_id);

ALTER TABLE ONLY public.gone_tenants
    ADD CONSTRAINT gone_tenants_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.group_policies
    ADD CONSTRAINT group_policies_pkey PRIMARY KEY (group_id, kind, item_id);

ALTER TABLE ONLY public.guardrail_configs
    ADD CONSTRAINT guardrail_configs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.guardrail_configs
    ADD CONSTRAINT guardrail_configs_tenant_id_name_key UNIQUE (tenant_id, name);

ALTER TABLE ONLY public.kept_signatures
    ADD CONSTRAINT kept_signatures_pkey PRIMARY KEY (tenant_id, name);

ALTER TABLE ONLY public.mcp_server_snapshots
    ADD CONSTRAINT mcp_server_snapshots_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.mcp_servers
    ADD CONSTRAINT mcp_servers_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.mcp_servers
    ADD CONSTRAINT mcp_servers_tenant_id_base_url_mcp_endpoint_path_key UNIQUE (tenant_id, base_url, mcp_endpoint_path);

ALTER TABLE ONLY public.model_usage_daily
    ADD CONSTRAINT model_usage_daily_pkey PRIMARY KEY (tenant_id, day, resource_group_id, model_id);

ALTER TABLE ONLY public.models
    ADD CONSTRAINT models_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.models
    ADD CONSTRAINT models_tenant_id_name_key UNIQUE (tenant_id, name);

ALTER TABLE ONLY public.notice_configs
    ADD CONSTRAINT notice_configs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.notice_configs
    ADD CONSTRAINT notice_configs_tenant_id_ai_system_id_key UNIQUE NULLS NOT DISTINCT (tenant_id, ai_system_id);

ALTER TABLE ONLY public.notifications
    ADD CONSTRAINT notifications_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.oauth_client_grants
    ADD CONSTRAINT oauth_client_grants_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.oauth_tokens
    ADD CONSTRAINT oauth_tokens_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.oauth_tokens
    ADD CONSTRAINT oauth_tokens_tenant_id_principal_type_principal_id_mcp_serv_key UNIQUE (tenant_id, principal_type, principal_id, mcp_server_id, issuer);

ALTER TABLE ONLY public.oauth_upstream_clients
    ADD CONSTRAINT oauth_upstream_clients_pkey PRIMARY KEY (mcp_server_id, issuer, redirect_uri);

ALTER TABLE ONLY public.providers
    ADD CONSTRAINT providers_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.providers
    ADD CONSTRAINT providers_tenant_id_provider_key_key UNIQUE (tenant_id, provider_key);

ALTER TABLE ONLY public.resource_group_end_user_groups
    ADD CONSTRAINT resource_group_end_user_groups_pkey PRIMARY KEY (resource_group_id, end_user_group_id);

ALTER TABLE ONLY public.resource_group_models
    ADD CONSTRAINT resource_group_models_pkey PRIMARY KEY (group_id, model_id);

ALTER TABLE ONLY public.resource_group_virtual_models
    ADD CONSTRAINT resource_group_virtual_models_pkey PRIMARY KEY (group_id, model_id);

ALTER TABLE ONLY public.resource_groups
    ADD CONSTRAINT resource_groups_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.resource_groups
    ADD CONSTRAINT resource_groups_tenant_id_name_key UNIQUE (tenant_id, name);

ALTER TABLE ONLY public.routing_groups
    ADD CONSTRAINT routing_groups_model_id_key UNIQUE (model_id);

ALTER TABLE ONLY public.routing_groups
    ADD CONSTRAINT routing_groups_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.routing_groups
    ADD CONSTRAINT routing_groups_tenant_id_name_key UNIQUE (tenant_id, name);

ALTER TABLE ONLY public.run_feedback
    ADD CONSTRAINT run_feedback_pkey PRIMARY KEY (tenant_id, root_task_id, end_user_id);

ALTER TABLE ONLY public.run_hourly
    ADD CONSTRAINT run_hourly_pkey PRIMARY KEY (tenant_id, resource_group_id, hour);

ALTER TABLE ONLY public.runs
    ADD CONSTRAINT runs_pkey PRIMARY KEY (tenant_id, root_task_id);

ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.semantic_cache_config_groups
    ADD CONSTRAINT semantic_cache_config_groups_pkey PRIMARY KEY (config_id, group_id);

ALTER TABLE ONLY public.semantic_cache_configs
    ADD CONSTRAINT semantic_cache_configs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.semantic_cache_configs
    ADD CONSTRAINT semantic_cache_configs_tenant_id_name_key UNIQUE (tenant_id, name);

ALTER TABLE ONLY public.semantic_cache_entries
    ADD CONSTRAINT semantic_cache_entries_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.semantic_cache_entries
    ADD CONSTRAINT semantic_cache_entries_tenant_id_config_id_exact_key_key UNIQUE (tenant_id, config_id, exact_key);

ALTER TABLE ONLY public.semantic_policies
    ADD CONSTRAINT semantic_policies_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.semantic_policies
    ADD CONSTRAINT semantic_policies_tenant_id_name_key UNIQUE (tenant_id, name);

ALTER TABLE ONLY public.semantic_policy_groups
    ADD CONSTRAINT semantic_policy_groups_pkey PRIMARY KEY (policy_id, group_id);

ALTER TABLE ONLY public.server_config_groups
    ADD CONSTRAINT server_config_groups_pkey PRIMARY KEY (config_id, group_id);

ALTER TABLE ONLY public.server_configs
    ADD CONSTRAINT server_configs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.server_configs
    ADD CONSTRAINT server_configs_tenant_id_name_key UNIQUE (tenant_id, name);

ALTER TABLE ONLY public.tenants
    ADD CONSTRAINT tenants_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.tool_letters
    ADD CONSTRAINT tool_letters_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.tool_results_hourly
    ADD CONSTRAINT tool_results_hourly_pkey PRIMARY KEY (tenant_id, hour, resource_group_id, model_id);

ALTER TABLE ONLY public.tool_sessions
    ADD CONSTRAINT tool_sessions_pkey PRIMARY KEY (tenant_id, session);

ALTER TABLE ONLY public.tool_usage_hourly
    ADD CONSTRAINT tool_usage_hourly_pkey PRIMARY KEY (tenant_id, hour, resource_group_id, server_id);

ALTER TABLE ONLY public.usage_daily
    ADD CONSTRAINT usage_daily_pkey PRIMARY KEY (tenant_id, day, resource_group_id, llm_model_used);

ALTER TABLE ONLY public.usage_hourly
    ADD CONSTRAINT usage_hourly_pkey PRIMARY KEY (tenant_id, hour, resource_group_id, api_key_id, llm_model_used);

ALTER TABLE ONLY public.virtual_servers
    ADD CONSTRAINT virtual_servers_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.virtual_servers
    ADD CONSTRAINT virtual_servers_tenant_id_name_key UNIQUE (tenant_id, name);

CREATE INDEX admin_log_tenant ON public.admin_log USING btree (tenant_id, id);

CREATE INDEX admin_log_tenants_made ON public.admin_log USING btree (resource_id, chain_seq) WHERE ((resource = 'tenants'::text) AND (action = 'create'::text));

CREATE UNIQUE INDEX admin_users_username ON public.admin_users USING btree (COALESCE(tenant_id, ''::text), lower(username));

CREATE INDEX alert_acknowledgements_user ON public.alert_acknowledgements USING btree (end_user_id);

CREATE INDEX alerts_group ON public.alerts USING btree (group_id, id);

CREATE INDEX alerts_running ON public.alerts USING btree (expires_at) WHERE (NOT resolved);

CREATE INDEX alerts_tenant ON public.alerts USING btree (tenant_id, id);

CREATE INDEX api_keys_end_user ON public.api_keys USING btree (end_user_id) WHERE (end_user_id IS NOT NULL);

CREATE INDEX api_keys_group ON public.api_keys USING btree (resource_group_id);

CREATE INDEX api_keys_tenant ON public.api_keys USING btree (tenant_id, created_at);

CREATE INDEX approvals_approvers ON public.approvals USING gin (approver_group_ids);

CREATE INDEX approvals_requester ON public.approvals USING btree (requester_id);

CREATE INDEX approvals_requester_group ON public.approvals USING btree (requester_group_id);

CREATE INDEX approvals_running ON public.approvals USING btree (expires_at) WHERE ((status = 'pending'::text) OR ((status = 'approved'::text) AND (consumed_at IS NULL)));

CREATE UNIQUE INDEX approvals_same_pending ON public.approvals USING btree (tenant_id, requester_id, requester_group_id, server_id, capability_name, arguments_digest) WHERE (status = 'pending'::text);

CREATE INDEX approvals_tenant ON public.approvals USING btree (tenant_id, created_at);

CREATE INDEX approvals_usable ON public.approvals USING btree (tenant_id, requester_id) WHERE ((status = 'approved'::text) AND (consumed_at IS NULL));

CREATE INDEX argument_policy_groups_group ON public.argument_policy_groups USING btree (group_id);

CREATE INDEX argument_policy_groups_tenant ON public.argument_policy_groups USING btree (tenant_id);

CREATE INDEX audit_blocks_unfilled ON public.audit_blocks USING btree (block) WHERE (NOT filled);

CREATE INDEX audit_blocks_without_headers ON public.audit_blocks USING btree (from_id) WHERE (NOT headers);

CREATE INDEX audit_rows_pruned ON ONLY public.audit_rows USING btree (bodies_pruned_at, id) WHERE (bodies_pruned_at IS NOT NULL);

CREATE INDEX audit_rows_2026_11_bodies_pruned_at_id_idx ON public.audit_rows_2026_11 USING btree (bodies_pruned_at, id) WHERE (bodies_pruned_at IS NOT NULL);

CREATE INDEX audit_rows_chain ON ONLY public.audit_rows USING btree (chain_id, chain_seq, id);

CREATE INDEX audit_rows_2026_11_chain_id_chain_seq_id_idx ON public.audit_rows_2026_11 USING btree (chain_id, chain_seq, id);

CREATE INDEX audit_rows_erased ON ONLY public.audit_rows USING btree (erased_at, id) WHERE (erased_at IS NOT NULL);

CREATE INDEX audit_rows_2026_11_erased_at_id_idx ON public.audit_rows_2026_11 USING btree (erased_at, id) WHERE (erased_at IS NOT NULL);

CREATE INDEX audit_rows_bodies ON ONLY public.audit_rows USING btree (id) WHERE ((bodies_pruned_at IS NULL) AND ((request_body_preview IS NOT NULL) OR (response_body_preview IS NOT NULL)));

CREATE INDEX audit_rows_2026_11_id_idx ON public.audit_rows_2026_11 USING btree (id) WHERE ((bodies_pruned_at IS NULL) AND ((request_body_preview IS NOT NULL) OR (response_body_preview IS NOT NULL)));

CREATE INDEX audit_rows_unscoped ON ONLY public.audit_rows USING btree (id) WHERE (tenant_id IS NULL);

CREATE INDEX audit_rows_2026_11_id_idx1 ON public.audit_rows_2026_11 USING btree (id) WHERE (tenant_id IS NULL);

CREATE INDEX audit_rows_run ON ONLY public.audit_rows USING btree (root_task_id) WHERE (root_task_id IS NOT NULL);

CREATE INDEX audit_rows_2026_11_root_task_id_idx ON public.audit_rows_2026_11 USING btree (root_task_id) WHERE (root_task_id IS NOT NULL);

CREATE INDEX audit_rows_tenant ON ONLY public.audit_rows USING btree (tenant_id, id);

CREATE INDEX audit_rows_2026_11_tenant_id_id_idx ON public.audit_rows_2026_11 USING btree (tenant_id, id);

CREATE INDEX audit_rows_trace ON ONLY public.audit_rows USING btree (trace_id, span_id) WHERE (trace_id IS NOT NULL);

CREATE INDEX audit_rows_2026_11_trace_id_span_id_idx ON public.audit_rows_2026_11 USING btree (trace_id, span_id) WHERE (trace_id IS NOT NULL);

CREATE INDEX audit_rows_2026_12_bodies_pruned_at_id_idx ON public.audit_rows_2026_12 USING btree (bodies_pruned_at, id) WHERE (bodies_pruned_at IS NOT NULL);

CREATE INDEX audit_rows_2026_12_chain_id_chain_seq_id_idx ON public.audit_rows_2026_12 USING btree (chain_id, chain_seq, id);

CREATE INDEX audit_rows_2026_12_erased_at_id_idx ON public.audit_rows_2026_12 USING btree (erased_at, id) WHERE (erased_at IS NOT NULL);

CREATE INDEX audit_rows_2026_12_id_idx ON public.audit_rows_2026_12 USING btree (id) WHERE ((bodies_pruned_at IS NULL) AND ((request_body_preview IS NOT NULL) OR (response_body_preview IS NOT NULL)));

CREATE INDEX audit_rows_2026_12_id_idx1 ON public.audit_rows_2026_12 USING btree (id) WHERE (tenant_id IS NULL);

CREATE INDEX audit_rows_2026_12_root_task_id_idx ON public.audit_rows_2026_12 USING btree (root_task_id) WHERE (root_task_id IS NOT NULL);

CREATE INDEX audit_rows_2026_12_tenant_id_id_idx ON public.audit_rows_2026_12 USING btree (tenant_id, id);

CREATE INDEX audit_rows_2026_12_trace_id_span_id_idx ON public.audit_rows_2026_12 USING btree (trace_id, span_id) WHERE (trace_id IS NOT NULL);

CREATE INDEX audit_rows_rest_bodies_pruned_at_id_idx ON public.audit_rows_rest USING btree (bodies_pruned_at, id) WHERE (bodies_pruned_at IS NOT NULL);

CREATE INDEX audit_rows_rest_chain_id_chain_seq_id_idx ON public.audit_rows_rest USING btree (chain_id, chain_seq, id);

CREATE INDEX audit_rows_rest_erased_at_id_idx ON public.audit_rows_rest USING btree (erased_at, id) WHERE (erased_at IS NOT NULL);

CREATE INDEX audit_rows_rest_id_idx ON public.audit_rows_rest USING btree (id) WHERE ((bodies_pruned_at IS NULL) AND ((request_body_preview IS NOT NULL) OR (response_body_preview IS NOT NULL)));

CREATE INDEX audit_rows_rest_id_idx1 ON public.audit_rows_rest USING btree (id) WHERE (tenant_id IS NULL);

CREATE INDEX audit_rows_rest_root_task_id_idx ON public.audit_rows_rest USING btree (root_task_id) WHERE (root_task_id IS NOT NULL);

CREATE INDEX audit_rows_rest_tenant_id_id_idx ON public.audit_rows_rest USING btree (tenant_id, id);

CREATE INDEX audit_rows_rest_trace_id_span_id_idx ON public.audit_rows_rest USING btree (trace_id, span_id) WHERE (trace_id IS NOT NULL);

CREATE INDEX data_erasures_at ON public.data_erasures USING btree (at);

CREATE INDEX data_erasures_tenant ON public.data_erasures USING btree (tenant_id, id);

CREATE INDEX end_user_group_members_user ON public.end_user_group_members USING btree (end_user_id);

CREATE INDEX end_users_assigned_group ON public.end_users USING btree (assigned_group_id) WHERE (assigned_group_id IS NOT NULL);

CREATE UNIQUE INDEX end_users_username ON public.end_users USING btree (tenant_id, lower(username));

CREATE INDEX former_model_names_model ON public.former_model_names USING btree (model_id);

CREATE INDEX gone_groups_heir ON public.gone_groups USING btree (heir_id);

CREATE INDEX group_policies_tenant ON public.group_policies USING btree (tenant_id);

CREATE INDEX kept_signatures_expiry ON public.kept_signatures USING btree (expires_at);

CREATE INDEX mcp_server_snapshots_server ON public.mcp_server_snapshots USING btree (mcp_server_id, id);

CREATE INDEX models_provider ON public.models USING btree (provider_id);

CREATE INDEX models_routing_group ON public.models USING btree (tenant_id, routing_group_id) WHERE (routing_group_id IS NOT NULL);

CREATE INDEX notice_configs_system ON public.notice_configs USING btree (ai_system_id);

CREATE INDEX notifications_age ON public.notifications USING btree (tenant_id, created_at);

CREATE INDEX notifications_approval ON public.notifications USING btree (((metadata ->> 'approval_id'::text))) WHERE ((metadata ->> 'approval_id'::text) IS NOT NULL);

CREATE INDEX notifications_expiry ON public.notifications USING btree (expires_at) WHERE (expires_at IS NOT NULL);

CREATE INDEX notifications_user ON public.notifications USING btree (end_user_id, id);

CREATE INDEX oauth_client_grants_token ON public.oauth_client_grants USING btree (token_id);

CREATE INDEX oauth_tokens_server ON public.oauth_tokens USING btree (mcp_server_id);

CREATE UNIQUE INDEX oauth_upstream_clients_admin ON public.oauth_upstream_clients USING btree (mcp_server_id) WHERE (redirect_uri = ''::text);

CREATE INDEX resource_group_end_user_groups_other ON public.resource_group_end_user_groups USING btree (end_user_group_id);

CREATE INDEX resource_group_models_model ON public.resource_group_models USING btree (model_id);

CREATE INDEX resource_group_virtual_models_model ON public.resource_group_virtual_models USING btree (model_id);

CREATE INDEX resource_groups_parent ON public.resource_groups USING btree (parent_group_id);

CREATE INDEX run_feedback_user ON public.run_feedback USING btree (end_user_id);

CREATE INDEX runs_ended_otherwise ON public.runs USING btree (resource_group_id, state, started_at) WHERE (state <> ALL (ARRAY['open'::text, 'completed'::text]));

CREATE INDEX runs_group ON public.runs USING btree (resource_group_id, started_at);

CREATE INDEX runs_open ON public.runs USING btree (started_at) WHERE (state = 'open'::text);

CREATE INDEX runs_outcome ON public.runs USING btree (resource_group_id, outcome, started_at) WHERE (outcome IS NOT NULL);

CREATE INDEX runs_started ON public.runs USING brin (started_at) WITH (pages_per_range='32', autosummarize='on');

CREATE INDEX semantic_cache_config_groups_group ON public.semantic_cache_config_groups USING btree (group_id);

CREATE INDEX semantic_cache_config_groups_tenant ON public.semantic_cache_config_groups USING btree (tenant_id);

CREATE INDEX semantic_cache_configs_embedding ON public.semantic_cache_configs USING btree (embedding_model_id);

CREATE INDEX semantic_cache_entries_call ON public.semantic_cache_entries USING btree (tenant_id, call_id);

CREATE INDEX semantic_cache_entries_config ON public.semantic_cache_entries USING btree (config_id, id);

CREATE INDEX semantic_cache_entries_end_user ON public.semantic_cache_entries USING btree (tenant_id, end_user_id) WHERE (end_user_id IS NOT NULL);

CREATE INDEX semantic_cache_entries_over ON public.semantic_cache_entries USING btree (GREATEST(exact_until, semantic_until));

CREATE INDEX semantic_cache_entries_space ON public.semantic_cache_entries USING btree (tenant_id, config_id, space, created_at) WHERE (embedding IS NOT NULL);

CREATE INDEX semantic_policies_judge ON public.semantic_policies USING btree (judge_model_id);

CREATE INDEX semantic_policy_groups_group ON public.semantic_policy_groups USING btree (group_id);

CREATE INDEX semantic_policy_groups_tenant ON public.semantic_policy_groups USING btree (tenant_id);

CREATE INDEX server_config_groups_group ON public.server_config_groups USING btree (group_id);

CREATE INDEX server_configs_server ON public.server_configs USING btree (mcp_server_id);

CREATE INDEX tool_letters_recipient ON public.tool_letters USING btree (recipient, id);

CREATE INDEX tool_sessions_used ON public.tool_sessions USING btree (used_at);

ALTER INDEX public.audit_rows_pruned ATTACH PARTITION public.audit_rows_2026_11_bodies_pruned_at_id_idx;

ALTER INDEX public.audit_rows_chain ATTACH PARTITION public.audit_rows_2026_11_chain_id_chain_seq_id_idx;

ALTER INDEX public.audit_rows_erased ATTACH PARTITION public.audit_rows_2026_11_erased_at_id_idx;

ALTER INDEX public.audit_rows_bodies ATTACH PARTITION public.audit_rows_2026_11_id_idx;

ALTER INDEX public.audit_rows_unscoped ATTACH PARTITION public.audit_rows_2026_11_id_idx1;

ALTER INDEX public.audit_rows_pkey ATTACH PARTITION public.audit_rows_2026_11_pkey;

ALTER INDEX public.audit_rows_run ATTACH PARTITION public.audit_rows_2026_11_root_task_id_idx;

ALTER INDEX public.audit_rows_tenant ATTACH PARTITION public.audit_rows_2026_11_tenant_id_id_idx;

ALTER INDEX public.audit_rows_trace ATTACH PARTITION public.audit_rows_2026_11_trace_id_span_id_idx;

ALTER INDEX public.audit_rows_pruned ATTACH PARTITION public.audit_rows_2026_12_bodies_pruned_at_id_idx;

ALTER INDEX public.audit_rows_chain ATTACH PARTITION public.audit_rows_2026_12_chain_id_chain_seq_id_idx;

ALTER INDEX public.audit_rows_erased ATTACH PARTITION public.audit_rows_2026_12_erased_at_id_idx;

ALTER INDEX public.audit_rows_bodies ATTACH PARTITION public.audit_rows_2026_12_id_idx;

ALTER INDEX public.audit_rows_unscoped ATTACH PARTITION public.audit_rows_2026_12_id_idx1;

ALTER INDEX public.audit_rows_pkey ATTACH PARTITION public.audit_rows_2026_12_pkey;

ALTER INDEX public.audit_rows_run ATTACH PARTITION public.audit_rows_2026_12_root_task_id_idx;

ALTER INDEX public.audit_rows_tenant ATTACH PARTITION public.audit_rows_2026_12_tenant_id_id_idx;

ALTER INDEX public.audit_rows_trace ATTACH PARTITION public.audit_rows_2026_12_trace_id_span_id_idx;

ALTER INDEX public.audit_rows_pruned ATTACH PARTITION public.audit_rows_rest_bodies_pruned_at_id_idx;

ALTER INDEX public.audit_rows_chain ATTACH PARTITION public.audit_rows_rest_chain_id_chain_seq_id_idx;

ALTER INDEX public.audit_rows_erased ATTACH PARTITION public.audit_rows_rest_erased_at_id_idx;

ALTER INDEX public.audit_rows_bodies ATTACH PARTITION public.audit_rows_rest_id_idx;

ALTER INDEX public.audit_rows_unscoped ATTACH PARTITION public.audit_rows_rest_id_idx1;

ALTER INDEX public.audit_rows_pkey ATTACH PARTITION public.audit_rows_rest_pkey;

ALTER INDEX public.audit_rows_run ATTACH PARTITION public.audit_rows_rest_root_task_id_idx;

ALTER INDEX public.audit_rows_tenant ATTACH PARTITION public.audit_rows_rest_tenant_id_id_idx;

ALTER INDEX public.audit_rows_trace ATTACH PARTITION public.audit_rows_rest_trace_id_span_id_idx;

CREATE TRIGGER admin_log_append_only BEFORE DELETE OR UPDATE ON public.admin_log FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change();

CREATE TRIGGER admin_log_not_truncated BEFORE TRUNCATE ON public.admin_log FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change();

CREATE TRIGGER alerts_told AFTER INSERT OR UPDATE OF resolved ON public.alerts FOR EACH ROW EXECUTE FUNCTION public.tell_portals('alert');

CREATE TRIGGER approvals_told AFTER INSERT OR UPDATE OF status ON public.approvals FOR EACH ROW EXECUTE FUNCTION public.tell_portals('approval');

CREATE TRIGGER data_erasures_append_only BEFORE DELETE OR UPDATE ON public.data_erasures FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change();

CREATE TRIGGER data_erasures_not_truncated BEFORE TRUNCATE ON public.data_erasures FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change();

CREATE TRIGGER notifications_told AFTER INSERT ON public.notifications FOR EACH ROW EXECUTE FUNCTION public.tell_portal_of_person();

CREATE TRIGGER runs_deleted AFTER DELETE ON public.runs REFERENCING OLD TABLE AS old_runs FOR EACH STATEMENT EXECUTE FUNCTION public.runs_deleted();

CREATE TRIGGER runs_inserted AFTER INSERT ON public.runs REFERENCING NEW TABLE AS new_runs FOR EACH STATEMENT EXECUTE FUNCTION public.runs_inserted();

CREATE TRIGGER runs_updated AFTER UPDATE ON public.runs REFERENCING OLD TABLE AS old_runs NEW TABLE AS new_runs FOR EACH STATEMENT EXECUTE FUNCTION public.runs_updated();

ALTER TABLE ONLY public.admin_users
    ADD CONSTRAINT admin_users_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.alert_acknowledgements
    ADD CONSTRAINT alert_acknowledgements_alert_id_fkey FOREIGN KEY (alert_id) REFERENCES public.alerts(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.alert_acknowledgements
    ADD CONSTRAINT alert_acknowledgements_end_user_id_fkey FOREIGN KEY (end_user_id) REFERENCES public.end_users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.alerts
    ADD CONSTRAINT alerts_group_id_fkey FOREIGN KEY (group_id) REFERENCES public.resource_groups(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.alerts
    ADD CONSTRAINT alerts_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_end_user_id_fkey FOREIGN KEY (end_user_id) REFERENCES public.end_users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_resource_group_id_fkey FOREIGN KEY (resource_group_id) REFERENCES public.resource_groups(id);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.approvals
    ADD CONSTRAINT approvals_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.argument_policies
    ADD CONSTRAINT argument_policies_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.argument_policy_groups
    ADD CONSTRAINT argument_policy_groups_group_id_fkey FOREIGN KEY (group_id) REFERENCES public.resource_groups(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.argument_policy_groups
    ADD CONSTRAINT argument_policy_groups_policy_id_fkey FOREIGN KEY (policy_id) REFERENCES public.argument_policies(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.conversation_notices
    ADD CONSTRAINT conversation_notices_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.end_user_backup_codes
    ADD CONSTRAINT end_user_backup_codes_end_user_id_fkey FOREIGN KEY (end_user_id) REFERENCES public.end_users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.end_user_group_members
    ADD CONSTRAINT end_user_group_members_end_user_id_fkey FOREIGN KEY (end_user_id) REFERENCES public.end_users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.end_user_group_members
    ADD CONSTRAINT end_user_group_members_group_id_fkey FOREIGN KEY (group_id) REFERENCES public.end_user_groups(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.end_user_group_members
    ADD CONSTRAINT end_user_group_members_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.end_user_groups
    ADD CONSTRAINT end_user_groups_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.end_user_photos
    ADD CONSTRAINT end_user_photos_end_user_id_fkey FOREIGN KEY (end_user_id) REFERENCES public.end_users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.end_user_photos
    ADD CONSTRAINT end_user_photos_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.end_users
    ADD CONSTRAINT end_users_assigned_group_id_fkey FOREIGN KEY (assigned_group_id) REFERENCES public.resource_groups(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.end_users
    ADD CONSTRAINT end_users_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.former_model_names
    ADD CONSTRAINT former_model_names_model_id_fkey FOREIGN KEY (model_id) REFERENCES public.models(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.former_model_names
    ADD CONSTRAINT former_model_names_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.gone_groups
    ADD CONSTRAINT gone_groups_heir_id_fkey FOREIGN KEY (heir_id) REFERENCES public.resource_groups(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.gone_groups
    ADD CONSTRAINT gone_groups_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.group_policies
    ADD CONSTRAINT group_policies_group_id_fkey FOREIGN KEY (group_id) REFERENCES public.resource_groups(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.group_policies
    ADD CONSTRAINT group_policies_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.guardrail_configs
    ADD CONSTRAINT guardrail_configs_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.kept_signatures
    ADD CONSTRAINT kept_signatures_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.mcp_server_snapshots
    ADD CONSTRAINT mcp_server_snapshots_mcp_server_id_fkey FOREIGN KEY (mcp_server_id) REFERENCES public.mcp_servers(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.mcp_server_snapshots
    ADD CONSTRAINT mcp_server_snapshots_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.mcp_servers
    ADD CONSTRAINT mcp_servers_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.models
    ADD CONSTRAINT models_provider_id_fkey FOREIGN KEY (provider_id) REFERENCES public.providers(id);

ALTER TABLE ONLY public.models
    ADD CONSTRAINT models_routing_group FOREIGN KEY (tenant_id, routing_group_id) REFERENCES public.routing_groups(tenant_id, id);

ALTER TABLE ONLY public.models
    ADD CONSTRAINT models_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.notice_configs
    ADD CONSTRAINT notice_configs_ai_system_id_fkey FOREIGN KEY (ai_system_id) REFERENCES public.resource_groups(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.notice_configs
    ADD CONSTRAINT notice_configs_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.notifications
    ADD CONSTRAINT notifications_end_user_id_fkey FOREIGN KEY (end_user_id) REFERENCES public.end_users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.notifications
    ADD CONSTRAINT notifications_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.oauth_client_grants
    ADD CONSTRAINT oauth_client_grants_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.oauth_client_grants
    ADD CONSTRAINT oauth_client_grants_token_id_fkey FOREIGN KEY (token_id) REFERENCES public.oauth_tokens(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.oauth_tokens
    ADD CONSTRAINT oauth_tokens_mcp_server_id_fkey FOREIGN KEY (mcp_server_id) REFERENCES public.mcp_servers(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.oauth_tokens
    ADD CONSTRAINT oauth_tokens_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.oauth_upstream_clients
    ADD CONSTRAINT oauth_upstream_clients_mcp_server_id_fkey FOREIGN KEY (mcp_server_id) REFERENCES public.mcp_servers(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.oauth_upstream_clients
    ADD CONSTRAINT oauth_upstream_clients_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.providers
    ADD CONSTRAINT providers_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.resource_group_end_user_groups
    ADD CONSTRAINT resource_group_end_user_groups_end_user_group_id_fkey FOREIGN KEY (end_user_group_id) REFERENCES public.end_user_groups(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.resource_group_end_user_groups
    ADD CONSTRAINT resource_group_end_user_groups_resource_group_id_fkey FOREIGN KEY (resource_group_id) REFERENCES public.resource_groups(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.resource_group_end_user_groups
    ADD CONSTRAINT resource_group_end_user_groups_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.resource_group_models
    ADD CONSTRAINT resource_group_models_group_id_fkey FOREIGN KEY (group_id) REFERENCES public.resource_groups(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.resource_group_models
    ADD CONSTRAINT resource_group_models_model_id_fkey FOREIGN KEY (model_id) REFERENCES public.models(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.resource_group_models
    ADD CONSTRAINT resource_group_models_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.resource_group_virtual_models
    ADD CONSTRAINT resource_group_virtual_models_group_id_fkey FOREIGN KEY (group_id) REFERENCES public.resource_groups(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.resource_group_virtual_models
    ADD CONSTRAINT resource_group_virtual_models_model_id_fkey FOREIGN KEY (model_id) REFERENCES public.routing_groups(model_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.resource_group_virtual_models
    ADD CONSTRAINT resource_group_virtual_models_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.resource_groups
    ADD CONSTRAINT resource_groups_parent_group_id_fkey FOREIGN KEY (parent_group_id) REFERENCES public.resource_groups(id);

ALTER TABLE ONLY public.resource_groups
    ADD CONSTRAINT resource_groups_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.routing_groups
    ADD CONSTRAINT routing_groups_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.run_feedback
    ADD CONSTRAINT run_feedback_end_user_id_fkey FOREIGN KEY (end_user_id) REFERENCES public.end_users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.run_feedback
    ADD CONSTRAINT run_feedback_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.semantic_cache_config_groups
    ADD CONSTRAINT semantic_cache_config_groups_config_id_fkey FOREIGN KEY (config_id) REFERENCES public.semantic_cache_configs(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.semantic_cache_config_groups
    ADD CONSTRAINT semantic_cache_config_groups_group_id_fkey FOREIGN KEY (group_id) REFERENCES public.resource_groups(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.semantic_cache_configs
    ADD CONSTRAINT semantic_cache_configs_embedding_model_id_fkey FOREIGN KEY (embedding_model_id) REFERENCES public.models(id);

ALTER TABLE ONLY public.semantic_cache_configs
    ADD CONSTRAINT semantic_cache_configs_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.semantic_cache_entries
    ADD CONSTRAINT semantic_cache_entries_config_id_fkey FOREIGN KEY (config_id) REFERENCES public.semantic_cache_configs(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.semantic_cache_entries
    ADD CONSTRAINT semantic_cache_entries_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.semantic_policies
    ADD CONSTRAINT semantic_policies_judge_model_id_fkey FOREIGN KEY (judge_model_id) REFERENCES public.models(id);

ALTER TABLE ONLY public.semantic_policies
    ADD CONSTRAINT semantic_policies_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.semantic_policy_groups
    ADD CONSTRAINT semantic_policy_groups_group_id_fkey FOREIGN KEY (group_id) REFERENCES public.resource_groups(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.semantic_policy_groups
    ADD CONSTRAINT semantic_policy_groups_policy_id_fkey FOREIGN KEY (policy_id) REFERENCES public.semantic_policies(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.server_config_groups
    ADD CONSTRAINT server_config_groups_config_id_fkey FOREIGN KEY (config_id) REFERENCES public.server_configs(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.server_config_groups
    ADD CONSTRAINT server_config_groups_group_id_fkey FOREIGN KEY (group_id) REFERENCES public.resource_groups(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.server_config_groups
    ADD CONSTRAINT server_config_groups_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.server_configs
    ADD CONSTRAINT server_configs_mcp_server_id_fkey FOREIGN KEY (mcp_server_id) REFERENCES public.mcp_servers(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.server_configs
    ADD CONSTRAINT server_configs_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.tool_sessions
    ADD CONSTRAINT tool_sessions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.virtual_servers
    ADD CONSTRAINT virtual_servers_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

