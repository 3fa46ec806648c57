import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import pg from "pg";
import { runningUrl } from "../../server/cli/running-database.ts";
import { jsonLog } from "../../server/kernel/log.ts";
import { callRow, testLedger } from "../../server/ledger/test-support.ts";
import { type Database, openDatabase } from "../../server/store/database.ts";
import { beginRestore } from "../../server/store/unfinished-restore.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";
import { removeDirectory, startGateway, temporaryDirectory } from "../support/gateway.ts";
import { LONG_TEST_MS } from "../support/patience.ts";
import { promptly, until } from "../support/until.ts";

/** A restore that is killed takes no effect: no gateway starts on what it left, and the same command finishes it. */
const LAUNCHER = fileURLToPath(new URL("../../bin/gatehouse.mjs", import.meta.url));
const REFUSAL = "a restore of a backup into the database was broken off, or is still running: run gatehouse restore again";
const ROWS = 2_000;

let folder: string;
let backup: string;
let migrations: number;

beforeAll(async () => {
  folder = await temporaryDirectory();
  backup = join(folder, "gateway.backup");
  const from = await testDatabase();
  const ledger = await testLedger(from.db, join(folder, "journal"));
  await Promise.all(Array.from({ length: ROWS }, () => ledger.seal(callRow())));
  await ledger.close();
  migrations = await countMigrations(from.db);
  expect(await command("backup", backup, "--database-url", from.url, "--data-dir", folder).ended).toBe(0);
  await from.close();
});
afterAll(() => removeDirectory(folder));

function command(...args: string[]): { readonly child: ChildProcess; readonly ended: Promise<number | null>; said(): string } {
  const { DATABASE_URL: _, ...env } = process.env;
  // With some versions of Node the launcher has a child, which is killed with it.
  const child = spawn("node", [LAUNCHER, ...args], { env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => (said += piece));
  return { child, ended: new Promise((resolve) => child.on("close", resolve)), said: () => said };
}

async function countMigrations(db: Database): Promise<number> {
  const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM schema_migrations`.execute(db);
  return Number(rows[0]?.n);
}

/** Restores until the database has this many migrations, and is killed there. */
async function killedRestore(database: () => Promise<Database> | Database, args: readonly string[], applied: number): Promise<void> {
  const restore = command("restore", backup, ...args);
  const gone = restore.ended.then(() => true);
  const db = await database();
  const reached = await promptly(async () => {
    if (await Promise.race([gone, Bun.sleep(1).then(() => false)])) throw new Error(`it ended before it was killed: ${restore.said()}`);
    return (await countMigrations(db).catch(() => -1)) >= applied;
  });
  process.kill(-(restore.child.pid as number), "SIGKILL");
  await restore.ended;
  expect([reached, restore.said()]).toEqual([true, expect.not.stringContaining("restored ")]);
}

async function emptyDatabase(): Promise<TestDatabase> {
  const database = await testDatabase({ likeOthers: false });
  await sql`DROP SCHEMA public CASCADE`.execute(database.db);
  await sql`CREATE SCHEMA public`.execute(database.db);
  return database;
}

const callsIn = async (db: Database): Promise<number> =>
  Number((await sql<{ n: number }>`SELECT count(*) AS n FROM audit_rows`.execute(db)).rows[0]?.n);

test(
  "killed while it migrates and while it loads: nothing starts on what it left, and the next try finishes it",
  async () => {
    const into = await emptyDatabase();
    const dataDir = join(folder, "restored");
    const place = ["--database-url", into.url, "--data-dir", dataDir];
    for (const applied of [1, migrations]) {
      await killedRestore(() => into.db, place, applied);
      const start = startGateway({ databaseUrl: into.url, dataDir, env: { GW_QUICKSTART: "off" } });
      await expect(start).rejects.toThrow(REFUSAL);
    }
    const backedUp = command("backup", join(folder, "half.backup"), ...place);
    expect([await backedUp.ended, backedUp.said()]).toEqual([1, `gatehouse backup: ${REFUSAL}\n`]);

    const again = command("restore", backup, ...place);
    expect([await again.ended, again.said()]).toEqual([0, expect.stringMatching(/chain \S+ +intact over 2000 rows/)]);
    expect(await callsIn(into.db)).toBe(ROWS);
    const gateway = await startGateway({ databaseUrl: into.url, dataDir, env: { GW_QUICKSTART: "off" } });
    expect(await gateway.stop()).toBe(0);
    const third = command("restore", backup, ...place);
    expect([await third.ended, third.said()]).toEqual([3, expect.stringContaining("has tables already")]);
    await into.close();
  },
  LONG_TEST_MS,
);

test(
  "killed while it restores into an embedded database, it is finished in the same data directory",
  async () => {
    const dataDir = join(folder, "embedded");
    let connection: ReturnType<typeof openDatabase> | undefined;
    const embedded = async () => {
      const url = await until(() => {
        try {
          return runningUrl(dataDir);
        } catch {
          return null;
        }
      });
      connection = openDatabase(url, { log: jsonLog("error"), max: 1 });
      return connection.db;
    };
    await killedRestore(embedded, ["--data-dir", dataDir], 5);
    await connection?.close();
    await expect(startGateway({ dataDir, env: { GW_QUICKSTART: "off" } })).rejects.toThrow(REFUSAL);
    const again = command("restore", backup, "--data-dir", dataDir);
    expect([await again.ended, again.said()]).toEqual([0, expect.stringMatching(/chain \S+ +intact over 2000 rows/)]);
  },
  LONG_TEST_MS,
);

test("two restores into one database do not mix", async () => {
  const into = await emptyDatabase();
  const holder = new pg.Client({ connectionString: into.url });
  await holder.connect();
  expect(await beginRestore(into.db, holder)).toBe(true);
  const place = ["--database-url", into.url, "--data-dir", join(folder, "two")];
  const beside = command("restore", backup, ...place);
  expect([await beside.ended, beside.said()]).toEqual([
    3,
    expect.stringContaining("another process is restoring a backup into the database"),
  ]);
  await holder.end();
  await into.close();
});

test("a restore that was broken off is not finished with a backup of an older release, which says what to do", async () => {
  const into = await emptyDatabase();
  const holder = new pg.Client({ connectionString: into.url });
  await holder.connect();
  await beginRestore(into.db, holder);
  await holder.end();
  await sql`CREATE TABLE schema_migrations (name text PRIMARY KEY, digest text NOT NULL, applied_at timestamptz DEFAULT now())`.execute(
    into.db,
  );
  await sql`INSERT INTO schema_migrations VALUES ('9999_of_a_newer_release.sql', 'd')`.execute(into.db);
  const older = command("restore", backup, "--database-url", into.url, "--data-dir", join(folder, "older"));
  expect([await older.ended, older.said()]).toEqual([
    3,
    expect.stringContaining(
      "gatehouse restore: a restore of another backup into the database was broken off, and this backup is of an older release (it lacks " +
        "9999_of_a_newer_release.sql): restore that other backup, or this one into a database without tables\n",
    ),
  ]);
  await into.close();
});
