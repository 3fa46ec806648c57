import * as contexts from "../../kernel/seal-contexts.ts";
import { sealContext } from "../../kernel/secrets.ts";

type Row = Readonly<Record<string, string>>;

/** A column that holds secrets encrypted under GW_SECRET_KEY. */
export interface SealedPlace {
  readonly kind: string;
  readonly table: string;
  readonly column: string;
  /** Columns of the primary key. */
  readonly key: readonly string[];
  /** Other columns that the context needs. */
  readonly also?: readonly string[];
  context(row: Row): string;
  /** The values are members of this name in a JSON document. */
  readonly member?: string;
  /** What cannot be opened is not worth reporting: it is deleted within a day, or can be derived again. */
  readonly isBrief?: true;
}

/** A key of an upstream, in a table whose ID is its primary key. */
function upstreamKey(
  kind: string,
  table: Parameters<typeof sealContext>[0],
  { column = "api_key_sealed", id = "id" }: { readonly column?: string; readonly id?: string } = {},
): SealedPlace {
  return { kind, table, column, key: [id], context: (row) => sealContext(table, text(row, id)) };
}

function text(row: Row, column: string): string {
  const value = row[column];
  if (value === undefined) throw new Error(`a stored secret lacks its ${column}`);
  return value;
}

const ownerOf = (row: Row): contexts.OAuthTokenOwner => ({
  tenant_id: text(row, "tenant_id"),
  principal_type: text(row, "principal_type"),
  principal_id: text(row, "principal_id"),
  mcp_server_id: text(row, "mcp_server_id"),
  issuer: text(row, "issuer"),
});
const OAUTH_TOKENS = {
  table: "oauth_tokens",
  key: ["id"],
  also: ["tenant_id", "principal_type", "principal_id", "mcp_server_id", "issuer"],
} as const;

/** Every place with such secrets. A test fails if one is missing. */
export const SEALED_PLACES: readonly SealedPlace[] = [
  upstreamKey("keys of providers", "providers"),
  upstreamKey("keys of models", "models"),
  upstreamKey("keys of tool servers", "mcp_servers"),
  upstreamKey("keys of usage imports", "usage_import_settings", { id: "provider_id" }),
  upstreamKey("keys of web search", "web_search_providers"),
  upstreamKey("addresses and secrets of webhooks", "webhooks", { column: "endpoint_sealed" }),
  upstreamKey("client secrets of identity providers", "identity_providers", { column: "client_secret_sealed" }),
  upstreamKey("credentials of knowledge connectors", "knowledge_connectors", { column: "credential_sealed" }),
  {
    kind: "keys of guardrail engines",
    ...{ table: "guardrail_configs", column: "providers", member: "api_key_sealed", key: ["id"] },
    context: (row) => contexts.engineKeyContext(text(row, "id")),
  },
  {
    kind: "credentials of agents",
    ...{ table: "agents", column: "credentials_sealed", key: ["id"] },
    context: (row) => contexts.agentCredentialsContext(text(row, "id")),
  },
  {
    kind: "signing keys of agent cards",
    ...{ table: "agent_signing_keys", column: "private_key_sealed", key: ["kid"] },
    context: (row) => contexts.agentSigningKeyContext(text(row, "kid")),
  },
  {
    kind: "credentials of agent notifications",
    ...{ table: "agent_push_configs", column: "secrets_sealed", key: ["tenant_id", "agent_id", "task_id", "id"] },
    context: (row) => contexts.pushSecretsContext(text(row, "tenant_id"), text(row, "agent_id"), text(row, "task_id"), text(row, "id")),
  },
  {
    kind: "clients at authorization servers",
    ...{ table: "oauth_upstream_clients", column: "client_secret_sealed", key: ["mcp_server_id", "issuer", "redirect_uri"] },
    also: ["client_id"],
    context: (row) => contexts.oauthClientContext(text(row, "mcp_server_id"), text(row, "issuer"), text(row, "client_id")),
  },
  {
    kind: "access tokens of connected accounts",
    ...{ ...OAUTH_TOKENS, column: "access_token_sealed" },
    context: (row) => contexts.oauthTokenContext("access", ownerOf(row)),
  },
  {
    kind: "refresh tokens of connected accounts",
    ...{ ...OAUTH_TOKENS, column: "refresh_token_sealed" },
    context: (row) => contexts.oauthTokenContext("refresh", ownerOf(row)),
  },
  {
    kind: "second factors of administrators",
    ...{ table: "admin_users", column: "totp_secret_sealed", key: ["id"] },
    context: (row) => contexts.adminFactorContext(text(row, "id")),
  },
  {
    kind: "second factors of end users",
    ...{ table: "end_users", column: "totp_secret_sealed", key: ["id"] },
    context: (row) => contexts.personFactorContext(text(row, "id")),
  },
  {
    kind: "answers held for approval",
    ...{ table: "held_answers", column: "sealed", key: ["approval_id"] },
    context: (row) => contexts.heldAnswerContext(text(row, "approval_id")),
  },
  {
    kind: "ID tokens of sign-ons",
    ...{ table: "sign_on_sessions", column: "id_token_sealed", key: ["id"], isBrief: true },
    context: (row) => contexts.idTokenContext(text(row, "id")),
  },
  {
    kind: "sign-ons under way",
    ...{ table: "sign_on_steps", column: "sealed", key: ["step_hash"], isBrief: true },
    context: (row) => contexts.signOnStepContext(text(row, "step_hash")),
  },
  {
    kind: "answers to repeated requests",
    ...{ table: "idempotent_answers", column: "answer_sealed", key: ["admin_id", "key_hash"], isBrief: true },
    context: (row) => contexts.idempotentAnswerContext(text(row, "admin_id"), text(row, "key_hash")),
  },
  {
    kind: "values kept for following calls",
    ...{ table: "kept_signatures", column: "sealed", key: ["tenant_id", "name"], isBrief: true },
    context: (row) => contexts.keptValueContext(text(row, "name")),
  },
  {
    kind: "messages between processes",
    ...{ table: "tool_letters", column: "body", key: ["id"], also: ["recipient"], isBrief: true },
    context: (row) => contexts.processMessageContext(text(row, "recipient")),
  },
  {
    kind: "keys of names",
    ...{ table: "secret_names", column: "keys_sealed", key: ["id"], isBrief: true },
    context: () => contexts.NAME_KEYS_CONTEXT,
  },
];
