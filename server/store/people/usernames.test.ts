import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { adminByUsername, tenantsWithAdmin } from "./admin-users.ts";
import { endUserByUsername } from "./end-users.ts";
import { accountsNamed } from "./accounts-named.ts";

const decomposed = (name: string) => name.normalize("NFD");
let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

test("a username is found in any case and Unicode form; names that differ only in form are found exactly", async () => {
  const { db } = database;
  await sql`INSERT INTO tenants (id, name, data_retention) VALUES ('t', 't', '{}')`.execute(db);
  for (const name of ["jürgen", decomposed("jörg"), "Jörg"])
    await sql`INSERT INTO end_users (id, tenant_id, username, password_hash) VALUES (gen_random_uuid(), 't', ${name}, '')`.execute(db);
  for (const name of ["한글", decomposed("이름"), "이름"])
    await sql`INSERT INTO admin_users (id, tenant_id, username, password_hash, role) VALUES (gen_random_uuid(), 't', ${name}, '', 'owner')`.execute(
      db,
    );
  const endUser = async (name: string) => (await endUserByUsername(db, "t", name))?.username;
  expect([await endUser("JÜRGEN"), await endUser(decomposed("Jürgen"))]).toEqual(["jürgen", "jürgen"]);
  expect([await endUser("jörg"), await endUser(decomposed("JÖRG"))]).toEqual(["Jörg", decomposed("jörg")]);
  const admin = async (name: string) => (await adminByUsername(db, "t", name))?.username;
  expect([await admin("한글"), await admin(decomposed("한글"))]).toEqual(["한글", "한글"]);
  expect([await admin("이름"), await admin(decomposed("이름"))]).toEqual(["이름", decomposed("이름")]);
  expect(await tenantsWithAdmin(db, decomposed("이름"), 2)).toEqual(["t"]);

  const named = (name: string) =>
    db
      .transaction()
      .execute(async (trx) => (await accountsNamed(trx, "t", { ids: [], usernames: [name] })).map(({ username }) => username));
  expect([await named(decomposed("JÜRGEN")), await named("jörg")]).toEqual([["jürgen"], ["Jörg"]]);
});
