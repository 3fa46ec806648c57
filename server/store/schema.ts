import type { ColumnType } from "kysely";
import type { Json, JsonWithDefault, NullableJson, NullableStamp, Stamp, WithDefault } from "./tables/columns.ts";
import type {
  AdminUserTable,
  EndUserGroupTable,
  EndUserPhotoTable,
  EndUserTable,
  IdempotentAnswerTable,
  NoticeConfigTable,
  NotificationTable,
  PageSessionTable,
} from "./tables/people.ts";
import type {
  AlertTable,
  ArgumentPolicyTable,
  GroupPolicyTable,
  GuardrailConfigTable,
  SemanticCacheConfigTable,
  SemanticCacheEntryTable,
  SemanticPolicyTable,
} from "./tables/policies.ts";
import type { ProvisioningLogTable, ScimGroupTable, ScimTokenTable, ScimUserTable } from "./tables/provisioning.ts";
import type { ExternalIdentityTable, IdentityProviderTable, SignOnSessionTable, SignOnStepTable } from "./tables/identity.ts";
import type { OAuthClientGrantTable, OAuthTokenTable, OAuthUpstreamClientTable } from "./tables/oauth.ts";
import type { ApprovalTable, HeldAnswerTable } from "./tables/approvals.ts";
import type { McpServerSnapshotTable, McpServerTable, ServerConfigTable, ToolSessionTable, VirtualServerTable } from "./tables/tools.ts";
import type { AgentCostClaimTable } from "./tables/agent-costs.ts";
import type {
  AgentContextTable,
  AgentGrantTable,
  AgentPushConfigTable,
  AgentPushDeliveryTable,
  AgentSigningKeyTable,
  AgentTable,
  AgentTaskStateTable,
  AgentTaskTable,
} from "./tables/agents.ts";
import type { AdminLogTable, AuditChainTable, AuditCheckpointTable, AuditKeyTable, AuditRowTable } from "./tables/ledger.ts";
import type {
  BatchCostTable,
  BatchDepartureTable,
  BatchJobTable,
  BatchLineTable,
  BatchRunnerTable,
  BatchSubmissionTable,
} from "./tables/batch.ts";
import type { StoredResponseTable } from "./tables/stored-responses.ts";
import type { VideoJobTable, VideoRunnerTable } from "./tables/videos.ts";
import type { BlobToRemoveTable, FileDirectoryTable, FileTable, ResumableUploadTable } from "./tables/files.ts";
import type {
  AiContractTable,
  AiSystemControlTable,
  AiSystemEvidenceTable,
  AiSystemHourTable,
  AiSystemObservationTable,
  AiSystemTable,
  AssuranceSnapshotTable,
} from "./tables/assurance.ts";
import type { ResponsePolicyTable, ResponseTable } from "./tables/responses.ts";
import type { BaselineEpochTable, DriftFindingTable, IncidentWindowTable } from "./tables/drift.ts";
import type { ReplayRunTable, ReplaySuiteTable } from "./tables/replay.ts";
import type { AgentSkillFileTable, AgentSkillTable, AgentSkillVersionTable } from "./tables/skills.ts";
import type { SealedComplianceReportTable } from "./tables/compliance.ts";
import type { AssetTable } from "./tables/assets.ts";
import type { CollectorKeyTable, DiscoveredAssetTable, DiscoveryDeviceTable } from "./tables/discovery.ts";
import type { UsageImportBucketTable, UsageImportMappingTable } from "./tables/usage-import-buckets.ts";
import type { UsageImportRunTable, UsageImportSettingsTable } from "./tables/usage-import.ts";
import type {
  KnowledgeBaseTable,
  KnowledgeChunkTable,
  KnowledgeConnectorTable,
  KnowledgeDocumentTable,
  KnowledgeIdentityTable,
  KnowledgeVectorTable,
} from "./tables/knowledge.ts";
import type { WebhookDeliveryTable, WebhookTable } from "./tables/webhooks.ts";
import type { WebSearchAddressTable, WebSearchProviderTable } from "./tables/web-search.ts";
import type { ModelTable, ProviderTable, RoutingGroupTable } from "./tables/models.ts";

/** The tables as the migrations create them. `bigint` columns are read as numbers: all counts here stay below 2^53. */

export interface DataRetention {
  store_bodies: "full" | "redacted" | "none";
  body_days: number;
  log_days: number;
  run_days: number;
  /** Null keeps files forever. */
  file_days: number | null;
}

export interface MediaLimitsRow {
  readonly image_mb?: number | null | undefined;
  readonly audio_mb?: number | null | undefined;
  readonly document_mb?: number | null | undefined;
  readonly video_mb?: number | null | undefined;
  readonly other_mb?: number | null | undefined;
  readonly group_storage_mb?: number | null | undefined;
}

export interface TenantTable {
  id: string;
  name: string;
  display_name: string | null;
  enabled: WithDefault<boolean>;
  data_retention: Json<DataRetention>;
  /** MiB. */
  media_limits: JsonWithDefault<MediaLimitsRow>;
  default_judge_model_id: string | null;
  allowed_regions: WithDefault<string[]>;
  /** Null if the tenant reports under none. */
  compliance_frameworks: WithDefault<string[] | null>;
  /** Null if the tenant made none. */
  gdpr_statements: NullableJson<Readonly<Record<string, string | null>>>;
  /** A run counts as ended after this long without a call. */
  run_idle_minutes: WithDefault<number>;
  local_passwords: WithDefault<boolean>;
  autonomy_floor: WithDefault<"autonomous" | "restricted" | "suspended">;
  /** Why nothing of the tenant may be removed. */
  legal_hold: WithDefault<string | null>;
  portal_registration: WithDefault<"open" | "closed">;
  portal_api_keys: WithDefault<"off" | "on">;
  admin_two_factor: WithDefault<"optional" | "required">;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface ResourceGroupTable {
  id: string;
  tenant_id: string;
  parent_group_id: string | null;
  name: string;
  display_name: string | null;
  description: string | null;
  group_type: WithDefault<string>;
  inherit_resources: WithDefault<boolean>;
  eu_ai_act_risk_tier: string | null;
  default_knowledgebase_ids: WithDefault<string[] | null>;
  phi_resource: boolean | null;
  branches_left: WithDefault<number>;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface ResourceGroupModelTable {
  group_id: string;
  model_id: string;
  tenant_id: string;
  portal_visible: WithDefault<boolean>;
  created_at: Stamp;
}

export interface ApiKeyTable {
  id: string;
  tenant_id: string;
  name: string;
  scope: string;
  access_mode: string;
  resource_group_id: string | null;
  end_user_id: string | null;
  allowed_skill_ids: ColumnType<string[] | null, string | null | undefined, string | null>;
  allowed_addresses: WithDefault<string[] | null>;
  key_hash: string;
  key_hint: string;
  previous_hash: string | null;
  previous_valid_until: NullableStamp;
  expires_at: NullableStamp;
  revoked_at: NullableStamp;
  last_used_at: NullableStamp;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface UsageHourlyTable {
  tenant_id: string;
  hour: Stamp;
  resource_group_id: string;
  api_key_id: string;
  llm_model_used: string;
  requests: number;
  errors: number;
  prompt_tokens: number;
  completion_tokens: number;
  cost_micro_usd: number;
  unpriced_requests: number;
}

export interface StoredSignatureTable {
  tenant_id: string;
  name: string;
  sealed: string;
  expires_at: Date;
}

interface GoneTenantTable {
  id: string;
  data_retention: ColumnType<DataRetention, string, string>;
  gone_at: Date;
}

export interface Schema {
  tenants: TenantTable;
  gone_tenants: GoneTenantTable;
  admin_users: AdminUserTable;
  end_users: EndUserTable;
  admin_backup_codes: { admin_user_id: string; slot: number; code_hash: string; used_at: Date | null };
  page_sessions: PageSessionTable;
  end_user_photos: EndUserPhotoTable;
  end_user_backup_codes: { end_user_id: string; slot: number; code_hash: string; used_at: Date | null };
  end_user_groups: EndUserGroupTable;
  end_user_group_members: { group_id: string; end_user_id: string; source: WithDefault<string>; tenant_id: string; created_at: Stamp };
  identity_providers: IdentityProviderTable;
  external_identities: ExternalIdentityTable;
  sign_on_sessions: SignOnSessionTable;
  sign_on_steps: SignOnStepTable;
  sign_on_used: { provider_id: string; used_id: string; expires_at: Date };
  scim_tokens: ScimTokenTable;
  scim_users: ScimUserTable;
  scim_groups: ScimGroupTable;
  provisioning_log: ProvisioningLogTable;
  resource_group_end_user_groups: { resource_group_id: string; end_user_group_id: string; tenant_id: string; created_at: Stamp };
  notifications: NotificationTable;
  alert_acknowledgements: { alert_id: string; end_user_id: string; acknowledged_at: Stamp };
  run_feedback: { tenant_id: string; root_task_id: string; end_user_id: string; score: number; comment: string | null; updated_at: Stamp };
  providers: ProviderTable;
  models: ModelTable;
  routing_groups: RoutingGroupTable;
  resource_groups: ResourceGroupTable;
  ai_systems: AiSystemTable;
  ai_system_evidence: AiSystemEvidenceTable;
  ai_contracts: AiContractTable;
  observed_chains: { chain_id: string; seq: number };
  ai_system_observations: AiSystemObservationTable;
  baseline_epochs: BaselineEpochTable;
  incident_windows: IncidentWindowTable;
  drift_findings: DriftFindingTable;
  assurance_snapshots: AssuranceSnapshotTable;
  sealed_compliance_reports: SealedComplianceReportTable;
  response_policies: ResponsePolicyTable;
  ai_system_controls: AiSystemControlTable;
  ai_system_hours: AiSystemHourTable;
  replay_runs: ReplayRunTable;
  replay_suites: ReplaySuiteTable;
  responses: ResponseTable;
  resource_group_models: ResourceGroupModelTable;
  resource_group_virtual_models: ResourceGroupModelTable;
  api_keys: ApiKeyTable;
  former_key_values: { key_hash: string; api_key_id: string; valid_until: Date };
  idempotent_answers: IdempotentAnswerTable;
  mcp_servers: McpServerTable;
  mcp_server_snapshots: McpServerSnapshotTable;
  server_configs: ServerConfigTable;
  server_config_groups: { config_id: string; group_id: string; tenant_id: string };
  virtual_servers: VirtualServerTable;
  approvals: ApprovalTable;
  held_answers: HeldAnswerTable;
  oauth_upstream_clients: OAuthUpstreamClientTable;
  oauth_tokens: OAuthTokenTable;
  oauth_client_grants: OAuthClientGrantTable;
  config_version: { only_row: WithDefault<boolean>; version: number };
  config_changes: { version: number; tenant_id: string; topic: string; ref: string | null; at: Stamp };
  admin_log: AdminLogTable;
  admin_log_head: { only_row: WithDefault<boolean>; seq: number; hash: string; updated_at: Stamp };
  admin_log_checkpoints: { checkpoint_no: number; chain_seq: number; note: string; signed_at: Stamp };
  audit_rows: AuditRowTable;
  audit_chains: AuditChainTable;
  audit_checkpoints: AuditCheckpointTable;
  audit_keys: AuditKeyTable;
  usage_hourly: UsageHourlyTable;
  labelled_usage_hourly: UsageHourlyTable & { label: string; value: string };
  usage_daily: Omit<UsageHourlyTable, "hour" | "api_key_id"> & { day: Stamp };
  model_usage_daily: {
    tenant_id: string;
    day: Stamp;
    resource_group_id: string;
    model_id: string;
    requests: number;
    tokens: number;
    cost_micro_usd: number;
  };
  former_model_names: { tenant_id: string; name: string; until: Date; model_id: string };
  gone_groups: { tenant_id: string; group_id: string; heir_id: string };
  group_policies: GroupPolicyTable;
  alerts: AlertTable;
  semantic_cache_configs: SemanticCacheConfigTable;
  semantic_cache_config_groups: { config_id: string; group_id: string; tenant_id: string };
  semantic_cache_entries: SemanticCacheEntryTable;
  semantic_policies: SemanticPolicyTable;
  semantic_policy_groups: { policy_id: string; group_id: string; tenant_id: string };
  notice_configs: NoticeConfigTable;
  conversation_notices: { tenant_id: string; conversation_handle: string; method: string; record_id: string; noticed_at: Date };
  kept_signatures: StoredSignatureTable;
  tool_sessions: ToolSessionTable;
  secret_names: { id: WithDefault<number>; keys_sealed: string };
  tool_letters: { id: WithDefault<number>; recipient: string; body: string; created_at: Stamp };
  guardrail_configs: GuardrailConfigTable;
  argument_policies: ArgumentPolicyTable;
  agents: AgentTable;
  agent_grants: AgentGrantTable;
  agent_grant_groups: { grant_id: string; group_id: string; tenant_id: string };
  agent_signing_keys: AgentSigningKeyTable;
  agent_tasks: AgentTaskTable;
  agent_cost_claims: AgentCostClaimTable;
  agent_task_states: AgentTaskStateTable;
  agent_contexts: AgentContextTable;
  agent_push_configs: AgentPushConfigTable;
  agent_push_deliveries: AgentPushDeliveryTable;
  argument_policy_groups: { policy_id: string; group_id: string; tenant_id: string };
  agent_skills: AgentSkillTable;
  agent_skill_versions: AgentSkillVersionTable;
  agent_skill_files: AgentSkillFileTable;
  resource_group_agent_skills: { group_id: string; skill_id: string; tenant_id: string; created_at: Stamp };
  web_search_providers: WebSearchProviderTable;
  webhooks: WebhookTable;
  webhook_deliveries: WebhookDeliveryTable;
  web_search_addresses: WebSearchAddressTable;
  knowledge_bases: KnowledgeBaseTable;
  knowledge_base_groups: { knowledge_base_id: string; group_id: string; tenant_id: string };
  knowledge_documents: KnowledgeDocumentTable;
  knowledge_chunks: KnowledgeChunkTable;
  knowledge_vectors: KnowledgeVectorTable;
  kb_identities: KnowledgeIdentityTable;
  knowledge_connectors: KnowledgeConnectorTable;
  files: FileTable;
  blobs_to_remove: BlobToRemoveTable;
  file_directories: FileDirectoryTable;
  resumable_uploads: ResumableUploadTable;
  batch_jobs: BatchJobTable;
  batch_lines: BatchLineTable;
  batch_runners: BatchRunnerTable;
  batch_costs: BatchCostTable;
  batch_submissions: BatchSubmissionTable;
  batch_departures: BatchDepartureTable;
  stored_responses: StoredResponseTable;
  video_jobs: VideoJobTable;
  video_runners: VideoRunnerTable;
  collector_keys: CollectorKeyTable;
  discovery_nonces: { key_id: string; nonce: string; seen_at: Date };
  discovery_events: { key_id: string; event_id: string; seen_at: Date };
  discovery_devices: DiscoveryDeviceTable;
  discovered_assets: DiscoveredAssetTable;
  discovery_settings: { tenant_id: string; gateway_origins: WithDefault<string[]>; updated_at: Stamp };
  assets: AssetTable;
  usage_import_settings: UsageImportSettingsTable;
  usage_import_runs: UsageImportRunTable;
  usage_import_buckets: UsageImportBucketTable;
  usage_import_mappings: UsageImportMappingTable;
}
