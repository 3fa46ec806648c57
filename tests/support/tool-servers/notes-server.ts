import { sql } from "kysely";
import type { TestDatabase } from "../database.ts";

/** The terms of tokens for the tool server `notes` of tenant `t`. */
export const NOTES_TERMS = {
  serverId: "notes",
  issuer: "https://issuer.example",
  clientId: "c",
  redirectUri: "https://gw.example/callback",
  resource: "https://notes.example",
};

export async function addNotesServer({ db }: Pick<TestDatabase, "db">): Promise<void> {
  await sql`INSERT INTO tenants (id, name, data_retention) VALUES ('t', 't', '{}')`.execute(db);
  await sql`INSERT INTO mcp_servers (id, tenant_id, name, base_url, mcp_endpoint_path) VALUES ('notes', 't', 'notes', 'https://notes.example', '/mcp')`.execute(
    db,
  );
}
