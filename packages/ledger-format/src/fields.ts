/**
 * Every field of an audit row, declared once. The row type, the table's columns, the query filters and the reference
 * page follow from it.
 *
 * kind: `witnessed` was seen by the gateway, `asserted` was claimed by the caller, `derived` was computed when the row
 * was written. Which of them the row hash covers is the business of the hash formats below, and of nothing else.
 * A field that does not apply is null: never a default that looks like a fact.
 */

export type FieldKind = "witnessed" | "asserted" | "derived";

interface TypeOf {
  text: string;
  integer: number;
  number: number;
  boolean: boolean;
  /** ISO 8601 UTC with six decimals. */
  timestamp: string;
  json: unknown;
}

export type FieldType = keyof TypeOf;

interface Field<T extends FieldType = FieldType> {
  readonly kind: FieldKind;
  readonly type: T;
  readonly about: string;
}

const witnessed = <T extends FieldType>(type: T, about: string): Field<T> => ({ kind: "witnessed", type, about });
const asserted = <T extends FieldType>(type: T, about: string): Field<T> => ({ kind: "asserted", type, about });
const derived = <T extends FieldType>(type: T, about: string): Field<T> => ({ kind: "derived", type, about });

export const FIELDS = {
  // Identity of the row
  id: witnessed("text", "ULID of the call, time-sortable"),
  tenant_id: witnessed("text", "tenant the call was scoped to; null when the credential named none"),
  timestamp: witnessed("timestamp", "when the call arrived, microseconds, UTC"),
  created_at: derived("timestamp", "when the row was written, which may trail the timestamp"),

  // What was called
  proxy_type: witnessed("text", "llm, mcp, virtual_mcp, skill, oauth, a2a, portal or batch"),
  proxy_subtype: witnessed("text", "what of it: chat_completions, models_list, or a governance outcome"),
  http_method: witnessed("text", "HTTP method of the call"),
  endpoint: witnessed("text", "path of the call, without its query string"),
  target_url: witnessed("text", "address of the upstream it was sent to, without credentials"),
  server_id: witnessed("text", "tool server called"),
  mcp_method: witnessed("text", "JSON-RPC method"),
  mcp_request_id: asserted("text", "JSON-RPC id"),
  mcp_capability_name: witnessed("text", "tool, prompt or resource named"),
  skill_id: witnessed("text", "skill called"),
  skill_execution_id: witnessed("text", "execution of the skill"),
  llm_model_requested: asserted("text", "model as the caller named it"),
  llm_model_used: witnessed("text", "gateway model that served the call"),
  llm_provider: witnessed("text", "provider_key of the provider that served it"),
  llm_prompt_tokens: witnessed("integer", "input tokens, cache reads and writes included"),
  llm_completion_tokens: witnessed("integer", "output tokens, reasoning included"),
  llm_total_tokens: witnessed("integer", "input and output tokens"),
  llm_estimated_cost_usd: derived("number", "cost in US dollars; null when the model has no price"),
  llm_streaming: witnessed("boolean", "whether the caller asked for a stream"),
  llm_temperature: asserted("number", "temperature asked for, or what parameter governance put in its place"),
  llm_max_tokens: asserted("integer", "output ceiling asked for, or what parameter governance put in its place"),
  llm_function_calling: witnessed("boolean", "whether the request offered tools"),
  llm_used_fallback: witnessed("boolean", "true when another member of the routing group than the first choice was asked, or a spare"),
  llm_fallback_reason: witnessed("text", "what the first choice came to, where another was asked"),
  llm_cache_hit: witnessed("boolean", "whether the answer came from the semantic cache"),
  llm_cache_layer: witnessed("text", "exact or semantic"),
  llm_tokens_saved: derived("integer", "tokens the cache saved"),
  llm_cache_similarity_score: derived("number", "similarity of a semantic hit"),
  prompt_cache_write_tokens: witnessed("integer", "input tokens written to the provider's cache"),
  prompt_cache_read_tokens: witnessed("integer", "input tokens read from the provider's cache"),
  prompt_cache_savings_usd: derived("number", "what the provider's cache saved, US dollars"),
  rag_enabled: witnessed("boolean", "whether knowledge was added to the prompt"),
  rag_chunks_retrieved: witnessed("integer", "chunks added"),
  rag_context_tokens: witnessed("integer", "tokens added"),
  rag_collection_ids: witnessed("json", "collections searched"),
  rag_top_similarity_score: derived("number", "best similarity"),
  rag_retrieval_duration_ms: witnessed("integer", "time of the search"),
  prompt_fingerprint: derived("text", "SHA-256 of the instruction text, never the text"),
  media_images_generated: witnessed("integer", "images made"),
  media_audio_chars: witnessed("integer", "characters spoken"),
  media_audio_seconds_input: witnessed("number", "seconds of audio heard"),
  media_video_seconds_output: witnessed("number", "seconds of video made"),
  oauth_flow_type: witnessed("text", "authorization_code or refresh_token: the flow a broker call is a step of"),
  oauth_scope: asserted("text", "OAuth scope asked for"),

  // Who
  api_key_id: witnessed("text", "API key used"),
  api_key_name: derived("text", "its name then; null on JWT calls"),
  resource_group_id: witnessed("text", "resource group the call was scoped to"),
  gateway_user_id: witnessed("text", "gateway user"),
  gateway_user_username: derived("text", "their username then"),
  idp_user_id: asserted("text", "user id at the identity provider"),
  idp_user_username: asserted("text", "username at the identity provider"),
  idp_user_email: asserted("text", "e-mail at the identity provider"),
  actor_agent_id: witnessed("text", "agent acting"),
  subject_id: witnessed("text", "whom the call was for"),
  subject_kind: witnessed("text", "user, upstream agent or service"),
  end_user_session_id: derived("text", "session id, keyed to the credential"),
  client_ip: witnessed("text", "address of the caller"),
  user_agent: asserted("text", "user agent of the caller"),
  is_auth_event: witnessed("boolean", "whether the call was a login or the like"),

  // Correlation and chain position
  correlation_id: asserted("text", "client correlation id or one minted here"),
  request_id: asserted("text", "client request id"),
  parent_request_id: asserted("text", "request that caused this nested call"),
  root_task_id: witnessed("text", "the run"),
  current_task_id: witnessed("text", "this step of a delegation"),
  parent_task_id: witnessed("text", "the step that invoked it"),
  delegation_depth: witnessed("integer", "depth of the delegation"),
  a2a_protocol_version: witnessed("text", "dialect of an agent call"),
  trace_continuity: witnessed("text", "minted, verified, client_dropped, sig_failed, client_asserted or external"),
  trace_root_kind: witnessed("text", "llm_user, agent_invocation, skill_execution, scheduled_job, external_api or external_telemetry"),
  step_id: asserted("text", "phase named by the client"),
  step_name: asserted("text", "its name"),
  turn_id: asserted("text", "agent-loop pass"),
  turn_seq: asserted("integer", "its position"),
  run_end_state: asserted("text", "terminal state the client declared"),
  trace_id: asserted("text", "W3C trace id"),
  span_id: asserted("text", "W3C span id"),
  upstream_request_id: witnessed("text", "the provider's own request id"),

  // Content and outcome
  request_size_bytes: witnessed("integer", "bytes of the request body as received"),
  response_size_bytes: witnessed("integer", "bytes of the answer as sent"),
  request_headers: derived("json", "request headers, without credentials and cookies"),
  response_headers: derived("json", "answer headers, without cookies"),
  request_body_preview: derived("text", "beginning of the body as the tenant's store_bodies says"),
  response_body_preview: derived("text", "beginning of the answer as the tenant's store_bodies says"),
  request_content_hash: witnessed(
    "text",
    "SHA-256 of the outbound body, or of the body received when nothing left; of a span, of what it told of the request",
  ),
  response_content_hash: witnessed("text", "SHA-256 of the answer as sent; of a span, of what it told of the answer"),
  http_status_code: witnessed("integer", "status sent to the caller"),
  success: witnessed("boolean", "whether the call did what it was for"),
  error_type: derived("text", "code of what went wrong"),
  error_message: derived("text", "what went wrong, in words"),
  duration_ms: witnessed("integer", "from arrival to the end of the answer"),

  // Governance decisions
  guardrail_blocked: witnessed("boolean", "whether a guardrail blocked the call"),
  argument_policy_denied: witnessed("boolean", "whether an argument policy denied a tool call"),
  pii_detected: derived("boolean", "whether personal data was found"),
  guardrail_config_id: witnessed("text", "guardrail that acted"),
  guardrail_check: witnessed("text", "pii, prompt_injection, jailbreak, toxic_content, banned_words, banned_pattern or secrets"),
  guardrail_action: witnessed("text", "block, redact or warn"),
  guardrails_skipped: derived("boolean", "whether a guardrail was left out"),
  guardrails_degraded: derived("boolean", "whether a guardrail failed and let the call pass"),
  argument_policy_id: witnessed("text", "argument policy that acted"),
  semantic_policy_id: witnessed("text", "semantic policy that acted"),
  agent_authz_decision: witnessed("text", "allow, approval_required or deny"),
  agent_grant_id: witnessed("text", "grant it rests on"),
  autonomy_level: witnessed("text", "autonomous, approval_required, restricted or suspended"),
  autonomy_provenance: witnessed("text", "live, last_known_good or floor"),
  consumed_approval_request_id: witnessed("text", "approval this retried call used"),
  pre_action_state: derived("json", "aggregates the quota decision used"),
  region_routed_to: witnessed("text", "region of the provider used"),
  residency_class: witnessed("text", "allowed, blocked or not_evaluated"),
  compliance_tags: derived("json", "tags of the tenant's compliance profile"),

  // Tool provenance
  tool_definition_hash: witnessed("text", "SHA-256 of the tool definition as last listed"),
  server_version: witnessed("text", "version the tool server announced"),
  deciding_model: derived("text", "model whose completion decided this action"),

  // Integrity and housekeeping
  chain_id: witnessed("text", "the writer's chain"),
  chain_seq: witnessed("integer", "dense position in the chain, from 1"),
  prev_hash: witnessed("text", "row_hash of the row before; 64 zeros for the first"),
  row_hash: witnessed("text", "SHA-256 of the canonical bytes and the previous hash"),
  source: witnessed("text", "gateway, or otel for rows of the trace inlet"),
  bodies_pruned_at: derived("timestamp", "when retention removed the previews"),
  erased_at: derived("timestamp", "when an erasure removed personal content"),
  custom_metadata: derived("json", "facts outside this list"),
  tags: derived("json", "labels of the row"),
} as const satisfies Record<string, Field>;

export type FieldName = keyof typeof FIELDS;

export const FIELD_NAMES = Object.keys(FIELDS) as FieldName[];

/** A row being filled or read: an absent field is null. */
export type AuditRow = { -readonly [K in FieldName]?: TypeOf[(typeof FIELDS)[K]["type"]] | null };

const V1 = [
  "id",
  "tenant_id",
  "timestamp",
  "proxy_type",
  "proxy_subtype",
  "actor_agent_id",
  "subject_id",
  "subject_kind",
  "api_key_id",
  "resource_group_id",
  "http_method",
  "endpoint",
  "mcp_capability_name",
  "llm_model_used",
  "agent_authz_decision",
  "agent_grant_id",
  "semantic_policy_id",
  "argument_policy_id",
  "guardrail_config_id",
  "guardrail_check",
  "guardrail_action",
  "autonomy_level",
  "autonomy_provenance",
  "consumed_approval_request_id",
  "guardrail_blocked",
  "argument_policy_denied",
  "http_status_code",
  "success",
  "root_task_id",
  "turn_id",
] as const satisfies readonly FieldName[];

const ADDED_BY_V2 = [
  "request_content_hash",
  "response_content_hash",
  "server_version",
  "tool_definition_hash",
] as const satisfies readonly FieldName[];

/** The fields each hash format covers, in the order they stand in the canonical bytes. */
export const HASH_FORMATS = { v1: V1, v2: [...V1, ...ADDED_BY_V2] } as const satisfies Record<string, readonly FieldName[]>;

export type HashFormat = keyof typeof HASH_FORMATS;

/** A v1 hash is accepted only for a row that carries none of these. */
export const V2_FIELDS: readonly FieldName[] = ADDED_BY_V2;
