import type { ReplayResult, ReplayTotals } from "@gatehouse/contracts/ai-replay";
import type { JsonWithDefault, NullableJson, NullableStamp, Stamp, WithDefault } from "./columns.ts";

/** The tables of AI Systems, of what speaks for them, and of their contracts. */

export interface AiSystemTable {
  /** Of the resource group that is registered. */
  id: string;
  tenant_id: string;
  owner: string | null;
  purpose: string | null;
  role: string | null;
  risk_class: string | null;
  data_classes: string[] | null;
  affected_people: string | null;
  oversight_person: string | null;
  interacts_with_people: boolean | null;
  lifecycle_state: WithDefault<string>;
  lifecycle_since: Stamp;
  autonomy_level: WithDefault<string>;
  restrictions: NullableJson<Record<string, string[] | null>>;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface AiSystemEvidenceTable {
  id: string;
  tenant_id: string;
  ai_system_id: string;
  kind: string;
  uri: string;
  sha256: string;
  title: string | null;
  assessor: string | null;
  valid_from: NullableStamp;
  valid_until: NullableStamp;
  attached_by: string | null;
  created_at: Stamp;
  updated_at: Stamp;
}

/** Who approved a version, and why. */
export interface StoredApproval {
  readonly admin_id: string | null;
  readonly admin: string | null;
  readonly at: string;
  readonly reason: string;
}

export interface AiContractTable {
  id: string;
  tenant_id: string;
  ai_system_id: string;
  version: number;
  state: string;
  digest: string;
  /** Canonical JSON text: what the digest is of. */
  content: string;
  note: string | null;
  minted_by: string | null;
  minted_by_id: string | null;
  approvals: JsonWithDefault<StoredApproval[]>;
  required_approvals: WithDefault<number>;
  /** Why it was rejected, withdrawn or revoked, and by whom. */
  decision: NullableJson<StoredApproval>;
  /** Why it was promoted although its replay gate was not passed. */
  gate_override: NullableJson<StoredApproval>;
  approved_at: NullableStamp;
  promoted_at: NullableStamp;
  ended_at: NullableStamp;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface AiSystemObservationTable {
  tenant_id: string;
  ai_system_id: string;
  /** model, tool, caller, prompt, data, or call of the system itself. */
  kind: string;
  subject: string;
  detail: JsonWithDefault<Record<string, unknown>>;
  calls: number;
  first_seen: Date;
  last_seen: Date;
  /** Ids of rows of the ledger. */
  first_row: string;
  last_row: string;
}

export interface BaselineEpochTable {
  id: string;
  tenant_id: string;
  ai_system_id: string;
  epoch: number;
  digest: string;
  /** Canonical JSON text. */
  content: string;
  finding_id: string | null;
  created_by: string | null;
  created_at: Stamp;
}

export interface IncidentWindowTable {
  id: string;
  tenant_id: string;
  /** Null: every system of the tenant. */
  ai_system_id: string | null;
  title: string;
  severity: string;
  reason: string | null;
  started_at: Stamp;
  ended_at: NullableStamp;
  finding_id: string | null;
  declared_by: string | null;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface DriftFindingTable {
  id: string;
  tenant_id: string;
  ai_system_id: string;
  kind: string;
  severity: string;
  subject: string;
  title: string;
  detail: JsonWithDefault<Record<string, unknown>>;
  status: WithDefault<string>;
  occurrences: WithDefault<number>;
  first_seen: Stamp;
  last_seen: Stamp;
  first_row: string | null;
  last_row: string | null;
  acknowledged_at: NullableStamp;
  acknowledged_by: string | null;
  closed_at: NullableStamp;
  closed_by: string | null;
  resolution: NullableJson<Record<string, unknown>>;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface AssuranceSnapshotTable {
  id: string;
  tenant_id: string;
  ai_system_id: string;
  digest: string;
  /** Canonical JSON text. */
  content: string;
  result: string;
  score: number | null;
  valid_until: Stamp;
  captured_by: string | null;
  revoked_at: NullableStamp;
  revoked_by: string | null;
  revoke_reason: string | null;
  created_at: Stamp;
}

export interface ResponsePolicyTable {
  id: string;
  tenant_id: string;
  /** Null: every system of the tenant. */
  ai_system_id: string | null;
  name: string;
  finding_kinds: string[];
  min_severity: string;
  action: string;
  mode: string;
  ttl_seconds: number;
  max_systems_per_hour: number;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface ResponseTable {
  id: string;
  tenant_id: string;
  ai_system_id: string;
  policy_id: string | null;
  policy_name: string;
  finding_id: string | null;
  action: string;
  status: string;
  reason: string;
  fired_at: Stamp;
  expires_at: NullableStamp;
  ended_at: NullableStamp;
  ended_by: string | null;
}

export interface ReplaySuiteTable {
  id: string;
  tenant_id: string;
  ai_system_id: string;
  version: number;
  digest: string;
  /** Canonical JSON text. */
  content: string;
  created_by: string | null;
  created_at: Stamp;
}

export interface ReplayRunTable {
  id: string;
  tenant_id: string;
  ai_system_id: string;
  suite_id: string;
  state: WithDefault<string>;
  contract_digest: string | null;
  models: WithDefault<string[]>;
  totals: NullableJson<ReplayTotals>;
  results: JsonWithDefault<ReplayResult[]>;
  cost_micro_usd: number | null;
  error: string | null;
  requested_by: string | null;
  heard_of_at: NullableStamp;
  created_at: Stamp;
  started_at: NullableStamp;
  ended_at: NullableStamp;
}

export interface AiSystemHourTable {
  tenant_id: string;
  ai_system_id: string;
  hour: Date;
  calls: number;
  timed: number;
  log_ms: number;
  refused: number;
  guarded: number;
}

export interface AiSystemControlTable {
  tenant_id: string;
  ai_system_id: string;
  control: string;
  /** Rows on which it gave a sign of life. */
  looked: number;
  /** Calls that carried something, since the first. */
  calls: number;
  /** Those since the last. */
  since_last: number;
  last_seen: Date;
  last_row: string;
}
