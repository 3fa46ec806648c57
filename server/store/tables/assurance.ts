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
  approved_at: NullableStamp;
  promoted_at: NullableStamp;
  ended_at: NullableStamp;
  created_at: Stamp;
  updated_at: Stamp;
}
