import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { type TestDatabase, testDatabase } from "../../tests/support/database.ts";
import { isDatabaseAway } from "./database-away.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

test("a connection lost within a transaction counts as an unreachable database", async () => {
  const { db } = database;
  const thrown: unknown = await db
    .transaction()
    .execute(async (trx) => {
      const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(trx);
      await sql`SELECT pg_terminate_backend(${rows[0]?.pid}, 5000)`.execute(db);
      for (;;) {
        await new Promise((resolve) => setImmediate(resolve));
        await sql`SELECT 1`.execute(trx);
      }
    })
    .catch((error: unknown) => error);
  expect([(thrown as Error).message, isDatabaseAway(thrown)]).toEqual([expect.any(String), true]);
});

test("a database with an untrusted certificate counts as unreachable", () => {
  for (const code of ["CERT_HAS_EXPIRED", "ERR_TLS_CERT_ALTNAME_INVALID", "UNABLE_TO_VERIFY_LEAF_SIGNATURE"])
    expect([code, isDatabaseAway(Object.assign(new Error("certificate"), { code }))]).toEqual([code, true]);
});

test("a database with a full disk counts as unreachable", async () => {
  const thrown: unknown = await sql`DO $$ BEGIN RAISE disk_full; END $$`.execute(database.db).catch((error: unknown) => error);
  expect(thrown).toMatchObject({ code: "53100" });
  expect(isDatabaseAway(thrown)).toBe(true);
});

test.each(["invalid_password", "invalid_authorization_specification", "invalid_catalog_name", "database_dropped"])(
  "a database that refuses the connection (%s) counts as unreachable",
  async (condition) => {
    const thrown: unknown = await sql`DO $$ BEGIN RAISE ${sql.raw(condition)}; END $$`
      .execute(database.db)
      .catch((error: unknown) => error);
    expect(isDatabaseAway(thrown)).toBe(true);
  },
);

test("an invalid statement does not count as an unreachable database", async () => {
  const thrown: unknown = await sql`SELECT nothing`.execute(database.db).catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(Error);
  expect(isDatabaseAway(thrown)).toBe(false);
});
