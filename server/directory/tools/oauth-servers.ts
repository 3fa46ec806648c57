import { oauthServerById } from "../../store/tools/mcp-servers.ts";
import type { Directory } from "../writes/write.ts";
import { endpointUrl } from "./tool-server-entry.ts";

/** A tool server that is called on behalf of its users, as found by browsers and clients that have no key yet. */
export interface OAuthServer {
  readonly tenantId: string;
  readonly id: string;
  readonly name: string;
  readonly url: string;
}

/** Null if it does not exist, is disabled or uses another authentication. */
export async function findOAuthServer({ db }: Pick<Directory, "db">, id: string): Promise<OAuthServer | null> {
  const row = await oauthServerById(db, id);
  return row === undefined
    ? null
    : { tenantId: row.tenant_id, id: row.id, name: row.name, url: endpointUrl(row.base_url, row.mcp_endpoint_path) };
}
