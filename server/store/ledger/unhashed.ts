import { FIELD_NAMES, type FieldName } from "@gatehouse/ledger-format/fields";
import { HASH_FORMATS } from "@gatehouse/ledger-format/hash-formats";

/** What rows keep when they are reduced: the fields their hash covers, and their place in the chain. */
const KEPT: readonly FieldName[] = [
  ...HASH_FORMATS.v2,
  "created_at",
  "chain_id",
  "chain_seq",
  "prev_hash",
  "row_hash",
  "source",
  "bodies_pruned_at",
  "erased_at",
  "tags",
];

export const UNHASHED: readonly FieldName[] = FIELD_NAMES.filter((name) => !KEPT.includes(name));

/** Content and direct identifiers of a data subject. No hash covers them. */
export const PERSONAL: readonly FieldName[] = [
  "request_body_preview",
  "response_body_preview",
  "request_headers",
  "response_headers",
  "error_message",
  "prompt_fingerprint",
  "api_key_name",
  "gateway_user_id",
  "gateway_user_username",
  "idp_user_id",
  "idp_user_username",
  "idp_user_email",
  "end_user_session_id",
  "client_ip",
  "user_agent",
  "correlation_id",
  "request_id",
  "parent_request_id",
  "mcp_request_id",
  "step_id",
  "step_name",
  "oauth_scope",
];
