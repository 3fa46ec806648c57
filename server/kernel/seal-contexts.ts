/*
 * What binds each kind of stored secret to its record. sealContext in secrets.ts has those that are keys of upstreams.
 * store/records/sealed-places.ts says where each of them is stored.
 */

export const agentCredentialsContext = (agentId: string): string => `agents.credentials:${agentId}`;

export const agentSigningKeyContext = (kid: string): string => `agent_signing_keys.private_key:${kid}`;

export const pushSecretsContext = (tenantId: string, agentId: string, taskId: string, id: string): string =>
  `agent_push_configs.secrets:${JSON.stringify([tenantId, agentId, taskId, id])}`;

export const engineKeyContext = (configId: string): string => `guardrail_configs.providers:${configId}`;

export const oauthClientContext = (serverId: string, issuer: string, clientId: string): string =>
  `oauth_upstream_clients.client_secret:${serverId}\n${issuer}\n${clientId}`;

export interface OAuthTokenOwner {
  readonly tenant_id: string;
  readonly principal_type: string;
  readonly principal_id: string;
  readonly mcp_server_id: string;
  readonly issuer: string;
}

export function oauthTokenContext(kind: "access" | "refresh", owner: OAuthTokenOwner): string {
  return ["oauth_tokens", kind, owner.tenant_id, owner.principal_type, owner.principal_id, owner.mcp_server_id, owner.issuer].join("\n");
}

export const adminFactorContext = (adminId: string): string => `admin_users.totp:${adminId}`;

export const personFactorContext = (userId: string): string => `end_users.totp:${userId}`;

export const idTokenContext = (sessionId: string): string => `sign_on_sessions.id_token_sealed:${sessionId}`;

export const signOnStepContext = (hash: string): string => `sign_on_steps.sealed:${hash}`;

export const heldAnswerContext = (approvalId: string): string => `held_answers/${approvalId}`;

export const idempotentAnswerContext = (adminId: string, keyHash: string): string => `idempotent_answers:${adminId}/${keyHash}`;

export const keptValueContext = (name: string): string => `kept_signatures:${name}`;

export const processMessageContext = (recipient: string): string => `tool_letters\n${recipient}`;

export const NAME_KEYS_CONTEXT = "secret_names.keys";
