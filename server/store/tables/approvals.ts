import type { JsonWithDefault, NullableStamp, Stamp, WithDefault } from "./columns.ts";

export interface ApprovalTable {
  id: string;
  tenant_id: string;
  server_config_id: string | null;
  server_id: string;
  server_name: string;
  capability_type: string;
  capability_name: string;
  requester_type: string;
  requester_id: string;
  requester_display: string;
  requester_group_id: string;
  approver_group_ids: WithDefault<string[]>;
  /** JSON text, as sent. */
  call_arguments: string;
  /** SHA-256, hex, of the canonical arguments. */
  arguments_digest: string;
  /** Digest of the tool's definition when approval was requested; empty if the tool was not listed. */
  definition_digest: WithDefault<string>;
  request_metadata: JsonWithDefault<Record<string, unknown>>;
  status: WithDefault<string>;
  timeout_seconds: number;
  expires_at: Stamp;
  token_nonce: string | null;
  resolved_by: string | null;
  /** The end user's ID; null for an administrator, empty if it is not known any more. */
  resolver_id: string | null;
  resolved_at: NullableStamp;
  resolution_note: string | null;
  consumed_at: NullableStamp;
  /** The call that redeemed it or, if the tool asked for input, the last call that continued it. */
  consumed_by_call: string | null;
  /** Digests of the handshake sessions in which the caller was shown a link to it. */
  shown_in: WithDefault<string[]>;
  created_at: Stamp;
}

export interface HeldAnswerTable {
  approval_id: string;
  tenant_id: string;
  /** Status, headers and body, sealed. */
  sealed: string;
}
