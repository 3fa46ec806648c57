import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { pruneOrphanTokens, putToken } from "./oauth-tokens.ts";

const SERVER = "mcp-01ARZ3NDEKTSV4RRFFQ69G5FAV";
let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

const keyId = crypto.randomUUID();
const revokedId = crypto.randomUUID();

function token(type: string, principalId: string) {
  return {
    id: crypto.randomUUID(),
    tenant_id: "t",
    principal_type: type,
    principal_id: principalId,
    mcp_server_id: SERVER,
    issuer: "https://issuer.example",
    client_id: "c",
    redirect_uri: "r",
    resource: "https://tools.example/mcp",
    access_token_sealed: "x",
  };
}

test("tokens of revoked keys and deleted users are pruned, and no others, also when run twice", async () => {
  const { db } = database;
  await sql`INSERT INTO tenants (id, name, data_retention) VALUES ('t', 't', '{}')`.execute(db);
  await sql`INSERT INTO mcp_servers (id, tenant_id, name, base_url, mcp_endpoint_path) VALUES (${SERVER}, 't', 's', 'https://tools.example', '/mcp')`.execute(
    db,
  );
  const groupId = crypto.randomUUID();
  await sql`INSERT INTO resource_groups (id, tenant_id, name, group_type) VALUES (${groupId}, 't', 'g', 'team')`.execute(db);
  for (const [id, revoked] of [
    [keyId, null],
    [revokedId, new Date()],
  ] as const)
    await sql`INSERT INTO api_keys (id, tenant_id, name, scope, access_mode, resource_group_id, key_hash, key_hint, revoked_at) VALUES (${id}, 't', ${id}, 'group', 'shared', ${groupId}, ${id}, 'hint', ${revoked})`.execute(
      db,
    );
  await db.transaction().execute(async (trx) => {
    for (const [type, id] of [
      ["api_key", keyId],
      ["api_key", revokedId],
      ["api_key", crypto.randomUUID()],
      ["user", crypto.randomUUID()],
    ] as const)
      await putToken(trx, token(type, id));
  });
  for (let time = 0; time < 2; time++) {
    await pruneOrphanTokens(db);
    const left = await db.selectFrom("oauth_tokens").select("principal_id").execute();
    expect(left.map(({ principal_id: id }) => id)).toEqual([keyId]);
  }
});

test("a principal has one row for each issuer of a server, whose ID is kept when it is replaced", async () => {
  const { db } = database;
  const first = await db.transaction().execute((trx) => putToken(trx, token("api_key", keyId)));
  const second = await db.transaction().execute((trx) => putToken(trx, { ...token("api_key", keyId), access_token_sealed: "y" }));
  expect([second.id, second.access_token_sealed]).toEqual([first.id, "y"]);
});
