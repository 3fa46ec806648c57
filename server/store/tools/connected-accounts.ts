import type { Database } from "../database.ts";
import type { OAuthTokenRow } from "./oauth-tokens.ts";
import { type Page, type Paged, pageOfRows } from "../records/paging.ts";

export interface ConnectedAccountFilters {
  readonly mcp_server_id?: string | undefined;
  readonly end_user_id?: string | undefined;
}

export type ConnectedAccountRow = OAuthTokenRow & { readonly server_name: string; readonly principal_name: string | null };

/** Most recently connected first. */
export async function connectedAccounts(
  db: Database,
  tenantId: string,
  filters: ConnectedAccountFilters,
  page: Page,
): Promise<Paged<ConnectedAccountRow>> {
  let query = db
    .selectFrom("oauth_tokens as t")
    .innerJoin("mcp_servers as s", "s.id", "t.mcp_server_id")
    .where("t.tenant_id", "=", tenantId);
  if (filters.mcp_server_id !== undefined) query = query.where("t.mcp_server_id", "=", filters.mcp_server_id);
  if (filters.end_user_id !== undefined)
    query = query.where("t.principal_type", "=", "user").where("t.principal_id", "=", filters.end_user_id);
  const rows = query
    .selectAll("t")
    .select((eb) => [
      "s.name as server_name",
      eb.fn
        .coalesce(
          eb
            .selectFrom("end_users as u")
            .select("u.username")
            .where("t.principal_type", "=", "user")
            .where((on) => on(on.cast<string>("u.id", "text"), "=", on.ref("t.principal_id"))),
          eb
            .selectFrom("api_keys as k")
            .select("k.name")
            .where("t.principal_type", "<>", "user")
            .where((on) => on(on.cast<string>("k.id", "text"), "=", on.ref("t.principal_id"))),
        )
        .as("principal_name"),
    ])
    .orderBy("t.created_at", "desc")
    .orderBy("t.id");
  return pageOfRows(query, rows, page);
}
