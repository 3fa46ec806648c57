import { afterAll, beforeAll, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { sql } from "kysely";
import pg from "pg";
import { testDatabase, type TestDatabase } from "../../tests/support/database.ts";
import { adminByUsername, tenantsWithAdmin } from "./admin-users.ts";
import { endUserByUsername } from "./end-users.ts";
import { accountsNamed } from "./erased-people.ts";

const MIGRATION = new URL("migrations/0088_names_of_people.sql", import.meta.url);
const apart = (name: string) => name.normalize("NFD");
let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

const endUserId = async (name: string): Promise<string | undefined> =>
  (await sql<{ id: string }>`SELECT id FROM end_users WHERE username = ${name}`.execute(database.db)).rows[0]?.id;

async function approvalResolvedBy(name: string, where: "at the portal" | "on the control plane"): Promise<string> {
  const id = crypto.randomUUID();
  await sql`INSERT INTO approvals (id, tenant_id, server_id, server_name, capability_type, capability_name, requester_type, requester_id, requester_display, requester_group_id, call_arguments, arguments_digest, timeout_seconds, expires_at, resolved_by)
    VALUES (${id}, 't', 's', 's', 'tool', 'x', 'user', 'u', 'u', gen_random_uuid(), '{}', ${id}, 900, now(), ${name})`.execute(database.db);
  if (where === "on the control plane")
    await sql`INSERT INTO admin_log (id, tenant_id, action, resource, resource_id) VALUES (${id}, 't', 'approve', 'approvals', ${id})`.execute(
      database.db,
    );
  return id;
}

test("people and what they resolved before names were composed are the same people", async () => {
  const { db } = database;
  await sql`INSERT INTO tenants (id, name, data_retention) VALUES ('t', 't', '{}')`.execute(db);
  for (const name of [apart("jürgen"), apart("jörg"), "Jörg"])
    await sql`INSERT INTO end_users (id, tenant_id, username, password_hash, tokens_valid_from) VALUES (gen_random_uuid(), 't', ${name}, '', now())`.execute(
      db,
    );
  for (const name of [apart("한글"), apart("이름"), "이름"])
    await sql`INSERT INTO admin_users (id, tenant_id, username, password_hash, role, tokens_valid_from) VALUES (gen_random_uuid(), 't', ${name}, '', 'owner', now())`.execute(
      db,
    );
  const juergen = await endUserId(apart("jürgen"));
  const approvals = [
    await approvalResolvedBy(apart("jürgen"), "at the portal"),
    await approvalResolvedBy("deleted", "at the portal"),
    await approvalResolvedBy("Jörg", "on the control plane"),
  ];
  await sql`ALTER TABLE approvals DROP COLUMN resolver_id`.execute(db);
  await sql.raw(await readFile(MIGRATION, "utf8")).execute(db);

  const resolvers = await sql<{
    resolver_id: string | null;
  }>`SELECT resolver_id FROM approvals ORDER BY array_position(${approvals}::uuid[], id)`.execute(db);
  expect(resolvers.rows.map((row) => row.resolver_id)).toEqual([juergen ?? "", "", null]);
  expect(await endUserId("jürgen")).toBe(juergen);
});

test("a name is found in any case and form, and of two that differ in the form alone each by its own", async () => {
  const { db } = database;
  const endUser = async (name: string) => (await endUserByUsername(db, "t", name))?.username;
  expect([await endUser("JÜRGEN"), await endUser(apart("Jürgen"))]).toEqual(["jürgen", "jürgen"]);
  expect([await endUser("jörg"), await endUser(apart("JÖRG"))]).toEqual(["Jörg", apart("jörg")]);
  const admin = async (name: string) => (await adminByUsername(db, "t", name))?.username;
  expect([await admin("한글"), await admin(apart("한글"))]).toEqual(["한글", "한글"]);
  expect([await admin("이름"), await admin(apart("이름"))]).toEqual(["이름", apart("이름")]);
  expect(await tenantsWithAdmin(db, apart("이름"), 2)).toEqual(["t"]);

  const named = (name: string) =>
    db
      .transaction()
      .execute(async (trx) => (await accountsNamed(trx, "t", { ids: [], usernames: [name] })).map(({ username }) => username));
  expect([await named(apart("JÜRGEN")), await named("jörg")]).toEqual([["jürgen"], ["Jörg"]]);
});

test("a database of an encoding without forms is migrated as well", async () => {
  const admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  const name = `gatehouse_test_${randomBytes(8).toString("hex")}`;
  const url = new URL(database.url);
  url.pathname = `/${name}`;
  await admin.query(`CREATE DATABASE ${name} ENCODING 'SQL_ASCII' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0`);
  const client = new pg.Client({ connectionString: url.href });
  try {
    await client.connect();
    await client.query(
      "CREATE TABLE approvals (id text, tenant_id text, resolved_by text); CREATE TABLE admin_log (resource text, resource_id text, action text)",
    );
    for (const table of ["end_users", "admin_users"])
      await client.query(`CREATE TABLE ${table} AS SELECT 1 AS id, 't' AS tenant_id, '${apart("jörg")}' AS username`);
    await client.query(await readFile(MIGRATION, "utf8"));
    expect((await client.query("SELECT username FROM end_users")).rows).toEqual([{ username: apart("jörg") }]);
  } finally {
    await client.end();
    await admin.query(`DROP DATABASE ${name}`);
    await admin.end();
  }
});
