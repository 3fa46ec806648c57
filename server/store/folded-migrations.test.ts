import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { sql } from "kysely";
import pg from "pg";
import { testDatabase, type TestDatabase } from "../../tests/support/database.ts";
import { auditCommand } from "../cli/audit.ts";
import { callRow, temporaryDirectory, testLedger } from "../ledger/test-support.ts";
import { CATALOGUE } from "./folded/catalogue.ts";
import { FOLDED } from "./folded-migrations.ts";
import { migrate, pendingMigrations } from "./migrate.ts";

/** A database that an earlier gateway used, created by the migrations that 0100 to 0108 replace. */
const BEFORE = readFileSync(new URL("folded/newest-before-0100.sql", import.meta.url), "utf8");
const FILES = readdirSync(new URL("migrations/", import.meta.url)).sort();
const NEWEST = "0097_branches_left.sql";

let fresh: TestDatabase;
let database: TestDatabase;
beforeAll(async () => {
  [fresh, database] = await Promise.all([testDatabase(), testDatabase()]);
});
afterAll(() => Promise.all([fresh.close(), database.close()]));

beforeEach(async () => {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
  await client.query(BEFORE);
  await client.end();
});

const recorded = async (): Promise<string[]> =>
  (await sql<{ name: string }>`SELECT name FROM schema_migrations ORDER BY name`.execute(database.db)).rows.map(({ name }) => name);

/** All rows of all tables except the record of migrations. */
async function rows(): Promise<Record<string, unknown[]>> {
  const { rows: tables } = await sql<{
    name: string;
  }>`SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> 'schema_migrations' ORDER BY 1`.execute(
    database.db,
  );
  const found: Record<string, unknown[]> = {};
  for (const { name } of tables)
    found[name] = (
      await sql<{ row: object }>`SELECT to_jsonb(t) AS row FROM ${sql.table(name)} t ORDER BY t::text`.execute(database.db)
    ).rows;
  return found;
}

async function verdicts(): Promise<{ code: number; chains: number }> {
  let told = "";
  const code = await auditCommand(["verify", "--database-url", database.url, "--json"], {
    stdout: (text) => void (told += text),
    stderr: (text) => void (told += text),
  });
  return { code, chains: told.split('"intact"').length - 1 };
}

test("a database at the newest folded migration keeps every row, and its chains verify and continue", async () => {
  const before = await rows();
  expect(before["audit_rows_2026_11"]).toHaveLength(5);
  expect(await pendingMigrations(database.db)).toEqual(FILES.slice(FOLDED[0]?.into.length));
  await migrate(database.db);
  expect(await recorded()).toEqual(FILES);
  expect(await rows()).toMatchObject(before);
  expect(await verdicts()).toEqual({ code: 0, chains: 2 });

  const ledger = await testLedger(database.db, temporaryDirectory());
  await ledger.seal(callRow({ tenant_id: "default" }));
  await ledger.shipped();
  await ledger.close();
  expect(await verdicts()).toEqual({ code: 0, chains: 3 });
  await migrate(database.db);
  expect(await recorded()).toEqual(FILES);
});

test("a migrated database has the same schema objects as a new one", async () => {
  await migrate(database.db);
  const objects = async (of: TestDatabase) =>
    (await sql.raw<{ object: string }>(CATALOGUE).execute(of.db)).rows.map(({ object }) => object);
  const made = await objects(fresh);
  expect(made.length).toBeGreaterThan(1_000);
  expect(await objects(database)).toEqual(made);
});

test("processes that start at once migrate the database once", async () => {
  await Promise.all([1, 2, 3, 4].map(() => migrate(database.db)));
  expect(await recorded()).toEqual(FILES);
});

test.each([
  ["the last folded migration", NEWEST, sql`name = ${NEWEST}`],
  ["one folded migration in between", "0065_row_blocks.sql", sql`name = '0065_row_blocks.sql'`],
  ["all folded migrations but the first", "0002_ledger.sql", sql`name > '0002'`],
])("a database that lacks %s is refused and not changed", async (_, first, lacking) => {
  await sql`DELETE FROM schema_migrations WHERE ${lacking}`.execute(database.db);
  const before = [await recorded(), await rows()];
  const refusal = `the database is too old for this release (it lacks ${first}): start the last release that has ${NEWEST} on it once, then this one`;
  await expect(migrate(database.db)).rejects.toThrow(refusal);
  await expect(pendingMigrations(database.db)).rejects.toThrow(refusal);
  expect([await recorded(), await rows()]).toEqual(before);
});

test("a database with an altered digest of a folded migration, or with an unknown migration, is refused", async () => {
  const before = await recorded();
  await sql`UPDATE schema_migrations SET digest = '' WHERE name = ${NEWEST}`.execute(database.db);
  await expect(migrate(database.db)).rejects.toThrow(`migration ${NEWEST} was changed after it was applied`);
  await sql`UPDATE schema_migrations SET digest = ${FOLDED[0]?.from[NEWEST]} WHERE name = ${NEWEST}`.execute(database.db);
  await sql`INSERT INTO schema_migrations (name, digest) VALUES ('0098_other.sql', '')`.execute(database.db);
  await expect(migrate(database.db)).rejects.toThrow("the database was migrated by a newer release (it has 0098_other.sql)");
  expect(await recorded()).toEqual([...before, "0098_other.sql"]);
});

test("replacements of folded migrations exist as files, and the folded ones do not", () => {
  for (const { into } of FOLDED) for (const name of into) expect(FILES).toContain(name);
  for (const { from } of FOLDED) for (const name of Object.keys(from)) expect(FILES).not.toContain(name);
});
