import type { ConnectedAccount } from "@gatehouse/contracts/connected-accounts";
import { type ConnectedAccountFilters, type ConnectedAccountRow, connectedAccounts } from "../../store/tools/connected-accounts.ts";
import { lockedToken } from "../../store/tools/oauth-tokens.ts";
import type { Page, Paged } from "../../store/records/paging.ts";
import { endUsers } from "../people/end-users.ts";
import { notFound } from "../writes/records.ts";
import type { Directory, Write } from "../writes/write.ts";
import { mcpServers } from "./mcp-servers.ts";
import { type DroppedTokens, dropLockedTokens, type Principal, tokenRef, tokenSummary } from "./oauth-tokens.ts";

function read(row: ConnectedAccountRow): ConnectedAccount {
  const { resource: _resource, ...summary } = tokenSummary(row);
  return {
    ...summary,
    mcp_server_name: row.server_name,
    principal_type: principalType(row),
    principal_id: row.principal_id,
    principal_name: row.principal_name,
  };
}

const principalType = ({ principal_type: type }: { readonly principal_type: string }): Principal["type"] =>
  type === "user" ? "user" : "api_key";

/** The accounts that people and keys have connected to a tool server. Throws a `not_found` refusal. */
export async function accountsAtServer(
  directory: Directory,
  tenantId: string,
  serverId: string,
  endUserId: string | undefined,
  page: Page,
): Promise<Paged<ConnectedAccount>> {
  await mcpServers.get(directory, tenantId, serverId);
  return accountsOf(directory, tenantId, { mcp_server_id: serverId, end_user_id: endUserId }, page);
}

/** The accounts that a person has connected to tool servers. Throws a `not_found` refusal. */
export async function accountsOfUser(
  directory: Directory,
  tenantId: string,
  endUserId: string,
  page: Page,
): Promise<Paged<ConnectedAccount>> {
  await endUsers.get(directory, tenantId, endUserId);
  return accountsOf(directory, tenantId, { end_user_id: endUserId }, page);
}

async function accountsOf(
  { db }: Directory,
  tenantId: string,
  filters: ConnectedAccountFilters,
  page: Page,
): Promise<Paged<ConnectedAccount>> {
  const { items, total } = await connectedAccounts(db, tenantId, filters, page);
  return { items: items.map(read), total };
}

/** From then on no call uses the account. Returns its tokens, so that they can be revoked at their issuer. */
export async function endConnectedAccount(write: Write, tenantId: string, serverId: string, id: string): Promise<DroppedTokens> {
  const row = await lockedToken(write.trx, tenantId, id);
  if (row === undefined || row.mcp_server_id !== serverId) throw notFound("connected account");
  const tokens = await dropLockedTokens(write.directory, write.trx, row);
  const principal: Principal = { tenantId, type: principalType(row), id: row.principal_id };
  write.notify(tenantId, "oauth_tokens", tokenRef(principal, serverId));
  write.log({
    tenant_id: tenantId,
    action: "end_connected_account",
    resource: "mcp-servers",
    resource_id: serverId,
    before: { id, principal_type: row.principal_type, principal_id: row.principal_id, issuer: row.issuer, scopes: row.scopes },
  });
  return { tokens };
}
