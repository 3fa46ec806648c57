import type { JsonWithDefault, NullableJson, NullableStamp, Stamp, WithDefault } from "./columns.ts";

/** Tables of AI Systems, their evidence and their contracts. */

export interface AiSystemTable {
  /** The ID of the registered resource group. */
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
  /** Canonical JSON text; the digest is computed over it. */
  content: string;
  note: string | null;
  minted_by: string | null;
  minted_by_id: string | null;
  approvals: JsonWithDefault<StoredApproval[]>;
  required_approvals: WithDefault<number>;
  /** By whom it was rejected, withdrawn or revoked, and why. */
  decision: NullableJson<StoredApproval>;
  /** Why it was promoted without passing its replay gate. */
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
  /** model, tool, skill, caller, prompt, data, or call of the system itself. */
  kind: string;
  subject: string;
  detail: JsonWithDefault<Record<string, unknown>>;
  calls: number;
  first_seen: Date;
  last_seen: Date;
  /** IDs of ledger rows. */
  first_row: string;
  last_row: string;
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

export interface AiSystemHourTable {
  tenant_id: string;
  ai_system_id: string;
  hour: Date;
  calls: number;
  timed: number;
  log_ms: number;
  refused: number;
  guarded: number;
  /** Null, like the next, for hours aggregated before this was recorded. */
  errors: number | null;
  last_at: Date | null;
}

export interface AiSystemControlTable {
  tenant_id: string;
  ai_system_id: string;
  control: string;
  /** Rows on which it gave a sign of life. */
  looked: number;
  /** Calls that carried something to inspect, since the first sign of life. */
  calls: number;
  /** Those since the last sign of life. */
  since_last: number;
  last_seen: Date;
  last_row: string;
}
