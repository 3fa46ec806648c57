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
  /** Null of hours that were added up before it was told. */
  last_at: Date | null;
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
