-- More ways into the rows by one field. Fields most rows have get an index each; those few rows have share an index of
-- the rows that have any of them, because every index is planned for at every query and kept at every row.

CREATE INDEX audit_rows_type ON audit_rows (proxy_type, id);
CREATE INDEX audit_rows_subtype ON audit_rows (proxy_subtype, id);
CREATE INDEX audit_rows_endpoint ON audit_rows (endpoint, id);
CREATE INDEX audit_rows_asked ON audit_rows (llm_model_requested, id) WHERE llm_model_requested IS NOT NULL;
CREATE INDEX audit_rows_provider ON audit_rows (llm_provider, id) WHERE llm_provider IS NOT NULL;
CREATE INDEX audit_rows_idp_username ON audit_rows (idp_user_username, id) WHERE idp_user_username IS NOT NULL;
CREATE INDEX audit_rows_fingerprint ON audit_rows (prompt_fingerprint, id) WHERE prompt_fingerprint IS NOT NULL;
CREATE INDEX audit_rows_turn ON audit_rows (turn_id, id) WHERE turn_id IS NOT NULL;
CREATE INDEX audit_rows_step ON audit_rows (step_id, id) WHERE step_id IS NOT NULL;

CREATE INDEX audit_rows_decided ON audit_rows (tenant_id, id) WHERE
  guardrail_blocked OR argument_policy_denied OR pii_detected OR guardrails_skipped OR guardrails_degraded
  OR guardrail_config_id IS NOT NULL OR guardrail_action IS NOT NULL OR argument_policy_id IS NOT NULL OR semantic_policy_id IS NOT NULL
  OR agent_authz_decision IS NOT NULL OR agent_grant_id IS NOT NULL OR autonomy_level IS NOT NULL OR autonomy_provenance IS NOT NULL
  OR consumed_approval_request_id IS NOT NULL OR residency_class = 'blocked';
CREATE INDEX audit_rows_delegated ON audit_rows (tenant_id, id) WHERE
  current_task_id IS NOT NULL OR parent_task_id IS NOT NULL OR delegation_depth IS NOT NULL OR a2a_protocol_version IS NOT NULL OR parent_request_id IS NOT NULL;
CREATE INDEX audit_rows_special ON audit_rows (tenant_id, id) WHERE
  llm_used_fallback OR llm_fallback_reason IS NOT NULL OR llm_cache_hit OR llm_cache_layer IS NOT NULL OR llm_tokens_saved IS NOT NULL
  OR run_end_state IS NOT NULL OR is_auth_event OR erased_at IS NOT NULL OR tags IS NOT NULL OR compliance_tags IS NOT NULL;
CREATE INDEX audit_rows_tooling ON audit_rows (tenant_id, id) WHERE
  mcp_method IS NOT NULL OR mcp_request_id IS NOT NULL OR skill_execution_id IS NOT NULL OR tool_definition_hash IS NOT NULL OR server_version IS NOT NULL
  OR deciding_model IS NOT NULL OR oauth_flow_type IS NOT NULL OR oauth_scope IS NOT NULL;
CREATE INDEX audit_rows_enriched ON audit_rows (tenant_id, id) WHERE
  rag_enabled OR rag_chunks_retrieved IS NOT NULL OR rag_context_tokens IS NOT NULL OR rag_collection_ids IS NOT NULL OR rag_top_similarity_score IS NOT NULL
  OR media_images_generated IS NOT NULL OR media_audio_chars IS NOT NULL OR media_audio_seconds_input IS NOT NULL OR media_video_seconds_output IS NOT NULL
  OR prompt_cache_write_tokens IS NOT NULL OR prompt_cache_savings_usd IS NOT NULL;
