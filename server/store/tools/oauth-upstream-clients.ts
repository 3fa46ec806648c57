import type { Insertable, Selectable } from "kysely";
import type { Database, Trx } from "../database.ts";
import type { OAuthUpstreamClientTable } from "../tables/oauth.ts";

export type OAuthUpstreamClientRow = Selectable<OAuthUpstreamClientTable>;

/** The client that an admin made for the server; its redirect URI is empty. */
export async function adminClient(db: Database | Trx, tenantId: string, serverId: string): Promise<OAuthUpstreamClientRow | undefined> {
  return db
    .selectFrom("oauth_upstream_clients")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("mcp_server_id", "=", serverId)
    .where("redirect_uri", "=", "")
    .executeTakeFirst();
}

export async function replaceAdminClient(trx: Trx, values: Insertable<OAuthUpstreamClientTable>): Promise<void> {
  await removeAdminClient(trx, values.tenant_id, values.mcp_server_id);
  await trx
    .insertInto("oauth_upstream_clients")
    .values({ ...values, redirect_uri: "" })
    .execute();
}

export async function removeAdminClient(trx: Trx, tenantId: string, serverId: string): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom("oauth_upstream_clients")
    .where("tenant_id", "=", tenantId)
    .where("mcp_server_id", "=", serverId)
    .where("redirect_uri", "=", "")
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
