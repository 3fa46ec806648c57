import type { Insertable } from "kysely";
import type { Database } from "../database.ts";
import type { OAuthUpstreamClientTable } from "../tables/oauth.ts";
import type { OAuthUpstreamClientRow } from "./oauth-upstream-clients.ts";

export async function registeredClient(
  db: Database,
  tenantId: string,
  serverId: string,
  issuer: string,
  redirectUri: string,
): Promise<OAuthUpstreamClientRow | undefined> {
  return db
    .selectFrom("oauth_upstream_clients")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("mcp_server_id", "=", serverId)
    .where("issuer", "=", issuer)
    .where("redirect_uri", "=", redirectUri)
    .executeTakeFirst();
}

/** Of two concurrent registrations, the first stays. */
export async function putRegisteredClient(db: Database, values: Insertable<OAuthUpstreamClientTable>): Promise<void> {
  await db
    .insertInto("oauth_upstream_clients")
    .values(values)
    .onConflict((conflict) => conflict.columns(["mcp_server_id", "issuer", "redirect_uri"]).doNothing())
    .execute();
}

export async function removeRegisteredClient(db: Database, serverId: string, issuer: string, clientId: string): Promise<void> {
  await db
    .deleteFrom("oauth_upstream_clients")
    .where("mcp_server_id", "=", serverId)
    .where("issuer", "=", issuer)
    .where("client_id", "=", clientId)
    .where("redirect_uri", "<>", "")
    .execute();
}
