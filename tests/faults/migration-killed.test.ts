import { afterAll, beforeAll, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import pg from "pg";
import { CATALOGUE } from "../../server/store/folded/catalogue.ts";
import { appliedMigrations, migrate, migrateTo } from "../../server/store/migrate.ts";
import { type Database } from "../../server/store/database.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";
import { removeDirectory, startGateway, temporaryDirectory } from "../support/gateway.ts";
import { LONG_TEST_MS } from "../support/patience.ts";
import { until } from "../support/until.ts";

/** A gateway that is killed in the middle of a migration of a database in use leaves none half applied, and the next start goes on. */
const STORE = new URL("../../server/store/", import.meta.url);
const BEFORE = readFileSync(new URL("folded/newest-before-0100.sql", STORE), "utf8");
const FILES = readdirSync(new URL("migrations/", STORE)).sort();
const FILLED = 50_000;

let database: TestDatabase;
let dataDir: string;
let killer: pg.Client;

beforeAll(async () => {
  [database, dataDir] = await Promise.all([testDatabase({ likeOthers: false }), temporaryDirectory()]);
  killer = new pg.Client({ connectionString: database.url });
  await killer.connect();
  await killer.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
  await killer.query(BEFORE);
  await killer.query("SET search_path TO public");
  await killer.query(
    `INSERT INTO end_users SELECT filled.* FROM (SELECT to_jsonb(u) AS person FROM end_users u LIMIT 1) one, generate_series(1, ${FILLED}) n,
       jsonb_populate_record(NULL::end_users, person || jsonb_build_object('id', gen_random_uuid(), 'username', 'person-' || n, 'email', null)) filled`,
  );
});
afterAll(async () => {
  await killer.end();
  await database.close();
  await removeDirectory(dataDir);
});

const recorded = async (db: Database) => [...(await appliedMigrations(db)).keys()];
const objectsOf = async (db: Database) => (await sql.raw<{ object: string }>(CATALOGUE).execute(db)).rows.map(({ object }) => object);

/** The number of rows of each table that was there before. */
async function counts(): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  const tables = BEFORE.matchAll(/^CREATE TABLE public\.(\S+) /gm);
  for (const [, name = ""] of tables)
    if (name !== "schema_migrations")
      found[name] = Number((await killer.query<{ n: string }>(`SELECT count(*) AS n FROM ${name}`)).rows[0]?.n);
  return found;
}

/** Starts a gateway, and kills it while a migration waits for the table, having made some of its changes. */
async function killedWhileChanging(table: string): Promise<void> {
  await killer.query("BEGIN");
  await killer.query(`LOCK TABLE ${table} IN ACCESS SHARE MODE`);
  // With some versions of Node the launcher has a child, which is killed with it.
  const started = spawn("node", [fileURLToPath(new URL("../../bin/gatehouse.mjs", import.meta.url)), "start"], {
    env: {
      ...process.env,
      ...{ GW_RUNTIME_PORT: "0", GW_ADMIN_PORT: "0", GW_QUICKSTART: "off", GW_DATA_DIR: dataDir, DATABASE_URL: database.url },
    },
    detached: true,
    stdio: "ignore",
  });
  const ended = new Promise((resolve) => started.on("close", resolve));
  const waiting = `SELECT pid FROM pg_locks WHERE relation = '${table}'::regclass AND mode = 'AccessExclusiveLock' AND NOT granted`;
  const [{ pid } = { pid: 0 }] = await until(
    async () => (await killer.query<{ pid: number }>(waiting)).rows,
    (rows) => rows.length > 0,
  );
  process.kill(-(started.pid as number), "SIGKILL");
  await ended;
  await killer.query("COMMIT");
  await until(
    async () => (await killer.query("SELECT FROM pg_stat_activity WHERE pid = $1", [pid])).rowCount,
    (left) => left === 0,
  );
}

test.each([
  ["tenants", "0161_admin_second_factor.sql"],
  ["mcp_servers", "0273_what_tool_servers_say_of_themselves.sql"],
  ["runs", "0376_deciding_calls.sql"],
])(
  "killed while a migration changes %s: none is half applied and no row is lost",
  async (table, name) => {
    const before = await counts();
    expect(before["end_users"]).toBeGreaterThan(FILLED);
    await killedWhileChanging(table);
    const applied = await recorded(database.db);
    expect(applied).toEqual(FILES.slice(0, FILES.indexOf(name)));
    expect(await counts()).toEqual(before);

    const like = await testDatabase({ likeOthers: false });
    await sql`DROP SCHEMA public CASCADE`.execute(like.db);
    await sql`CREATE SCHEMA public`.execute(like.db);
    await migrateTo(like.db, await appliedMigrations(database.db));
    expect(await objectsOf(database.db)).toEqual(await objectsOf(like.db));
    await like.close();
  },
  LONG_TEST_MS,
);

test(
  "the next start applies the rest",
  async () => {
    const before = await counts();
    const gateway = await startGateway({ databaseUrl: database.url, dataDir, env: { GW_QUICKSTART: "off" } });
    expect(await recorded(database.db)).toEqual(FILES);
    expect(await gateway.stop()).toBe(0);
    expect((await counts())["end_users"]).toBe(before["end_users"]);
    await migrate(database.db);
  },
  LONG_TEST_MS,
);
