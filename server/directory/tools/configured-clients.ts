import { oauthClientContext } from "../../kernel/seal-contexts.ts";
import type { McpOAuthClient, McpOAuthClientWrite } from "@gatehouse/contracts/mcp-oauth";
import { mcpServerStore } from "../../store/tools/mcp-servers.ts";
import {
  adminClient,
  type OAuthUpstreamClientRow,
  removeAdminClient,
  replaceAdminClient,
} from "../../store/tools/oauth-upstream-clients.ts";
import { invalidField, notFound } from "../writes/records.ts";
import type { Directory, Write } from "../writes/write.ts";
import { issuerId } from "./issuer-id.ts";
import { mcpServers } from "./mcp-servers.ts";
import { serverRef } from "./oauth-tokens.ts";

function read(row: OAuthUpstreamClientRow): McpOAuthClient {
  return {
    mcp_server_id: row.mcp_server_id,
    issuer: row.issuer,
    client_id: row.client_id,
    has_client_secret: row.client_secret_sealed !== null,
    token_endpoint_auth_method: row.auth_method,
    scopes: row.scopes,
    idp_server_id: issuerId(row.issuer),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** Throws a `not_found` refusal, like the functions below. */
export async function getConfiguredClient(directory: Directory, tenantId: string, serverId: string): Promise<McpOAuthClient> {
  await mcpServers.get(directory, tenantId, serverId);
  return read(there(await adminClient(directory.db, tenantId, serverId)));
}

/** Creates the client, or replaces an existing one. */
export async function putConfiguredClient(
  write: Write,
  tenantId: string,
  serverId: string,
  body: McpOAuthClientWrite,
): Promise<McpOAuthClient> {
  await holdServer(write, tenantId, serverId);
  const before = await adminClient(write.trx, tenantId, serverId);
  const context = oauthClientContext(serverId, body.issuer, body.client_id);
  const same = before !== undefined && before.issuer === body.issuer && before.client_id === body.client_id;
  const stored = same ? write.directory.secrets.openOrNull(before.client_secret_sealed, context) : null;
  // Reads omit the secret, so a client sent back without one keeps it.
  const left = body.token_endpoint_auth_method === "none" ? null : stored;
  const secret = body.client_secret === undefined ? left : body.client_secret;
  const method = body.token_endpoint_auth_method ?? (secret === null ? "none" : "client_secret_basic");
  if ((method === "none") !== (secret === null))
    throw invalidField("token_endpoint_auth_method", secret === null ? "needs a client_secret" : "may not be none with a client_secret");
  await replaceAdminClient(write.trx, {
    tenant_id: tenantId,
    mcp_server_id: serverId,
    issuer: body.issuer,
    client_id: body.client_id,
    client_secret_sealed:
      secret === null ? null : same && secret === stored ? before.client_secret_sealed : write.directory.secrets.seal(secret, context),
    auth_method: method,
    scopes: body.scopes ?? null,
    created_at: before?.created_at ?? write.now,
    updated_at: write.now,
  });
  const row = await adminClient(write.trx, tenantId, serverId);
  if (row === undefined) throw new Error("an OAuth client is not there after it was written");
  if (before !== undefined) write.stay(before, row, read(before));
  const after = read(row);
  changed(
    write,
    tenantId,
    serverId,
    before === undefined ? { action: "create", after } : { action: "update", before: read(before), after },
  );
  return after;
}

export async function removeConfiguredClient(write: Write, tenantId: string, serverId: string): Promise<void> {
  await holdServer(write, tenantId, serverId);
  const before = there(await adminClient(write.trx, tenantId, serverId));
  await removeAdminClient(write.trx, tenantId, serverId);
  changed(write, tenantId, serverId, { action: "delete", before: read(before) });
}

/** Locks the server, so that only one administrator at a time changes its client. */
async function holdServer(write: Write, tenantId: string, serverId: string): Promise<void> {
  if ((await mcpServerStore.find(write.trx, tenantId, serverId, "lock")) === undefined) throw notFound("tool server");
}

function there(row: OAuthUpstreamClientRow | undefined): OAuthUpstreamClientRow {
  if (row === undefined) throw notFound("OAuth client of this tool server");
  return row;
}

function changed(
  write: Write,
  tenantId: string,
  serverId: string,
  change: { readonly action: "create" | "update" | "delete"; readonly before?: McpOAuthClient; readonly after?: McpOAuthClient },
): void {
  write.notify(tenantId, "oauth_tokens", serverRef(serverId));
  write.log({ tenant_id: tenantId, resource: "mcp-oauth-clients", resource_id: serverId, ...change });
}
