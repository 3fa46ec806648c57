import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { systemClock } from "../../kernel/clock.ts";
import { secretBox } from "../../kernel/secrets.ts";
import { dropTokens, findTokens, keepTokens, listTokens, type Principal } from "./oauth-tokens.ts";

const principal: Principal = { tenantId: "t", type: "user", id: "ada" };
const terms = { serverId: "notes", issuer: "https://issuer.example", clientId: "c", redirectUri: "https://gw.example/callback", resource: "https://notes.example" };
const given = { accessToken: "at", refreshToken: "rt", scopes: [], expiresAt: null };
let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
  await sql`INSERT INTO tenants (id, name, data_retention) VALUES ('t', 't', '{}')`.execute(database.db);
  await sql`INSERT INTO mcp_servers (id, tenant_id, name, base_url, mcp_endpoint_path) VALUES ('notes', 't', 'notes', 'https://notes.example', '/mcp')`.execute(database.db);
});
afterAll(() => database.close());

test("tokens that were stored under another key are none: they can be taken away, and connected anew", async () => {
  const under = (key: number) => ({ db: database.db, clock: systemClock(), secrets: secretBox(Buffer.alloc(32, key)) });
  const id = await keepTokens(under(1), principal, terms, given);
  expect(await findTokens(under(1), principal, "notes")).toMatchObject({ accessToken: "at", refreshToken: "rt" });
  expect(await findTokens(under(2), principal, "notes")).toBeNull();
  expect(await dropTokens(under(2), principal, "notes", terms.issuer, id)).toEqual({ tokens: null });
  expect(await listTokens(under(2), principal, "notes", terms.issuer)).toEqual([]);
  await keepTokens(under(2), principal, terms, given);
  expect(await findTokens(under(2), principal, "notes")).toMatchObject({ accessToken: "at" });
});
