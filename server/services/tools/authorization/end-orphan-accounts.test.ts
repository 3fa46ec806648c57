import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { testDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { addNotesServer, NOTES_TERMS } from "../../../../tests/support/tool-servers/notes-server.ts";
import { listTokens, type Principal, storeTokens } from "../../../directory/tools/oauth-tokens.ts";
import { systemClock } from "../../../kernel/clock.ts";
import { secretBox } from "../../../kernel/secrets.ts";
import { orphanAccounts } from "./end-orphan-accounts.ts";

const secrets = secretBox(Buffer.alloc(32, 1));
let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
  await addNotesServer(database);
});
afterAll(() => database.close());

async function connectedBy(name: string): Promise<Principal> {
  const parts = { db: database.db, clock: systemClock(), secrets };
  const principal: Principal = { tenantId: "t", type: "user", id: crypto.randomUUID() };
  await storeTokens(parts, principal, NOTES_TERMS, { accessToken: `of ${name}`, refreshToken: null, scopes: [], expiresAt: null });
  return principal;
}

test("the tokens of deleted people are revoked at their issuers; those of others stay", async () => {
  const { db } = database;
  const ada = await connectedBy("ada");
  await sql`INSERT INTO end_users (id, tenant_id, username, password_hash) VALUES (${ada.id}, 't', 'ada', 'none')`.execute(db);
  await connectedBy("somebody gone");
  const revoked: unknown[] = [];
  const { job } = orphanAccounts({ db, secrets }, async (given, { accessToken }) => void revoked.push([given, accessToken]));
  for (let time = 0; time < 2; time++) {
    await job.run();
    expect(revoked).toEqual([[{ tenantId: "t", id: "notes" }, "of somebody gone"]]);
  }
  expect(await listTokens({ db, clock: systemClock(), secrets }, ada, "notes", NOTES_TERMS.issuer)).toHaveLength(1);
});

test("stopping the gateway does not wait for an issuer", async () => {
  const { db } = database;
  await connectedBy("one gone");
  await connectedBy("another gone");
  const { promise: asked, resolve: isAsked } = Promise.withResolvers<void>();
  let times = 0;
  const accounts = orphanAccounts({ db, secrets }, () => {
    times++;
    isAsked();
    return new Promise(() => undefined);
  });
  const run = accounts.job.run();
  await asked;
  accounts.stop();
  await run;
  expect(times).toBe(1);
});
