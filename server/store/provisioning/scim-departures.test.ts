import { afterAll, beforeAll, expect, test } from "bun:test";
import { type KyselyPlugin, type RawNode, sql } from "kysely";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import type { Trx } from "../database.ts";
import { accountsLetInByGroup, endAdminSessionsOf } from "./scim-departures.ts";

const PEOPLE = 3_000;
const TENANT = "company";
const DIRECTORY = { tenantId: TENANT, source: "entra" };

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
  const { db } = database;
  await sql`INSERT INTO tenants (id, name, data_retention) VALUES (${TENANT}, 'Company', '{}')`.execute(db);
  await sql`
    INSERT INTO end_users (id, tenant_id, username, password_hash, tokens_valid_from, created_at, updated_at)
    SELECT md5('person' || i)::uuid, ${TENANT}, 'person' || i, '', now(), now(), now() FROM generate_series(1, ${PEOPLE}::int) i`.execute(
    db,
  );
  await sql`
    INSERT INTO scim_users (end_user_id, tenant_id, source, external_id, attributes, created_at, updated_at)
    SELECT md5('person' || i)::uuid, ${TENANT}, ${DIRECTORY.source}, 'key' || i, '{}', now(), now() FROM generate_series(1, ${PEOPLE}::int) i`.execute(
    db,
  );
  const [portal, admin] = [await provider("portal"), await provider("admin")];
  await sql`
    INSERT INTO external_identities (provider_id, subject, tenant_id, end_user_id, last_login)
    SELECT ${portal}, 'tenant/key' || i, ${TENANT}, md5('person' || i)::uuid, now() FROM generate_series(1, ${PEOPLE}::int) i`.execute(db);
  await sql`
    INSERT INTO admin_users (id, tenant_id, username, password_hash, role, tokens_valid_from, created_at, updated_at)
    SELECT md5('admin' || i)::uuid, ${TENANT}, 'admin' || i, '', 'viewer', now() - interval '1 day', now(), now() FROM generate_series(1, 200) i`.execute(
    db,
  );
  await sql`
    INSERT INTO external_identities (provider_id, subject, tenant_id, admin_user_id, last_login)
    SELECT ${admin}, 'tenant/key' || i, ${TENANT}, md5('admin' || i)::uuid, now() FROM generate_series(1, 200) i`.execute(db);
  await sql`ANALYZE`.execute(db);
});
afterAll(() => database.close());

async function provider(audience: "portal" | "admin"): Promise<string> {
  const id = crypto.randomUUID();
  const settings = JSON.stringify({ scim_directory: DIRECTORY.source, required_group: "staff", group_mappings: [] });
  await sql`
    INSERT INTO identity_providers (id, tenant_id, kind, name, audience, settings)
    VALUES (${id}, ${TENANT}, 'oidc', ${audience}, ${audience}, ${settings})`.execute(database.db);
  return id;
}

const inTransaction = <T>(work: (trx: Trx) => Promise<T>) => database.db.transaction().execute(work);
const idOf = async (name: string) => (await sql<{ id: string }>`SELECT md5(${name})::uuid AS id`.execute(database.db)).rows[0]?.id ?? "";

test("people who leave a large SCIM group are found by index and hash join, not by comparing all pairs", async () => {
  const { rows } = await sql<{ id: string }>`SELECT id FROM end_users`.execute(database.db);
  const leavers = rows.map(({ id }) => id);
  let plan = "";
  const explained: KyselyPlugin = {
    transformQuery: ({ node }) => {
      const { sqlFragments, ...rest } = node as RawNode;
      return { ...rest, sqlFragments: [`EXPLAIN ${sqlFragments[0]}`, ...sqlFragments.slice(1)] };
    },
    transformResult: ({ result }) => {
      plan = result.rows.map((row) => row["QUERY PLAN"]).join("\n");
      return Promise.resolve({ ...result, rows: [] });
    },
  };
  await inTransaction((trx) => accountsLetInByGroup(trx.withPlugin(explained) as Trx, DIRECTORY, ["staff"], leavers));
  const conditions = plan.match(/(Index|Hash|Merge) Cond: .*/g)?.join("\n");
  expect(conditions).toMatch(/Index Cond: \(end_user_id = person\.end_user_id\)/);
  expect(conditions).toMatch(/(Hash|Merge) Cond: .*external_id/);
  const found = await inTransaction((trx) => accountsLetInByGroup(trx, DIRECTORY, ["staff"], leavers));
  expect([found.endUserIds.length, found.adminIds.length]).toEqual([PEOPLE, 200]);
  const others = await inTransaction((trx) => accountsLetInByGroup(trx, DIRECTORY, ["others"], leavers));
  expect(others).toEqual({ endUserIds: [], adminIds: [], keysSuspendedOf: [] });
});

test.each<[subject: string, externalId: string, isTheirs: boolean]>([
  ["k", "k", true],
  ["org/k", "k", true],
  ["org/a/b", "a/b", true],
  ["org//a%2Fb", "a/b", true],
  ["a%2Fb//c", "c", true],
  ["org//50%252F", "50%2F", true],
  ["org/xk", "k", false],
  ["a%2Fb//c", "b//c", false],
  ["k/org", "k", false],
  ["org/a%2Fb", "a/b", false],
])("an administrator with subject %s is matched to the SCIM external ID %s: %p", async (subject, externalId, isTheirs) => {
  const [admin, person] = [await idOf("admin1"), await idOf("person1")];
  await inTransaction(async (trx) => {
    await sql`UPDATE external_identities SET subject = ${subject} WHERE admin_user_id = ${admin}`.execute(trx);
    await sql`UPDATE scim_users SET external_id = ${externalId} WHERE end_user_id = ${person}`.execute(trx);
  });
  const { adminIds } = await inTransaction((trx) => accountsLetInByGroup(trx, DIRECTORY, ["staff"], [person]));
  expect(adminIds).toEqual(isTheirs ? [admin] : []);
  const since = async () =>
    (await sql<{ at: Date }>`SELECT tokens_valid_from AS at FROM admin_users WHERE id = ${admin}`.execute(database.db)).rows[0]?.at;
  const before = await since();
  await inTransaction((trx) => endAdminSessionsOf(trx, TENANT, DIRECTORY.source, externalId));
  expect((await since())?.getTime() !== before?.getTime()).toBe(isTheirs);
});
