import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { sql } from "kysely";
import pg from "pg";
import { jsonLog } from "../../server/kernel/log.ts";
import { type Database, openDatabase } from "../../server/store/database.ts";
import { migrate } from "../../server/store/migrate.ts";
import { collectFilledFields } from "./formats/filled-fields.ts";

export interface TestDatabase {
  readonly url: string;
  readonly db: Database;
  /** Closes the pool and drops the database. */
  close(): Promise<void>;
}

const MIGRATIONS = new URL("../../server/store/migrations/", import.meta.url);
// An arbitrary advisory lock key, the same in every process that creates the template.
const LOCK = 5_090_173_311;

/** Asks the test runner for a server URL; the runner starts a PostgreSQL on the first request. */
async function askServerUrl(): Promise<string> {
  const given = process.env["TEST_DATABASE_URL"];
  if (!given) throw new Error("TEST_DATABASE_URL is not set: run the tests with npm test, which starts a PostgreSQL for them");
  if (!given.startsWith("http:")) return given;
  const answer = await fetch(given);
  if (!answer.ok) throw new Error(await answer.text());
  return answer.text();
}

let server: Promise<string> | undefined;
const serverUrl = (): Promise<string> => (server ??= askServerUrl());

async function urlOf(database: string): Promise<string> {
  const url = new URL(await serverUrl());
  url.pathname = `/${database}`;
  return url.href;
}

async function asAdmin<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: await serverUrl() });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function migrated(database: string): Promise<void> {
  const connection = openDatabase(await urlOf(database), { log: jsonLog("error"), max: 2 });
  await migrate(connection.db);
  await connection.close();
}

function templateName(): string {
  const digest = createHash("sha256");
  for (const name of readdirSync(MIGRATIONS).sort()) digest.update(name).update(readFileSync(new URL(name, MIGRATIONS)));
  return `gatehouse_template_${digest.digest("hex").slice(0, 12)}`;
}

/** Creates one migrated template database per state of the migrations, from which every test's database is copied. */
async function makeTemplate(): Promise<string> {
  const name = templateName();
  await asAdmin(async (client) => {
    await client.query("SELECT pg_advisory_lock($1)", [LOCK]);
    const { rowCount } = await client.query("SELECT FROM pg_database WHERE datname = $1", [name]);
    if (rowCount !== 0) return;
    await client.query(`DROP DATABASE IF EXISTS ${name}_unfinished WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${name}_unfinished`);
    await migrated(`${name}_unfinished`);
    await client.query(`ALTER DATABASE ${name}_unfinished RENAME TO ${name}`);
  });
  return name;
}

let template: Promise<string> | undefined;

/**
 * Terminates the connections on which processes listen for notifications. Such a connection last ran LISTEN, or later a check whether it
 * still answers.
 */
export async function cutChannels(db: Database): Promise<void> {
  await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND (query LIKE 'LISTEN %' OR query = 'SELECT 1') AND pid <> pg_backend_pid()`.execute(
    db,
  );
}

interface TestDatabaseOptions {
  readonly onQuery?: (sql: string) => void;
  /** False for tests that force unusual endings, whose rows must not count in the statistics of filled fields. */
  readonly likeOthers?: boolean;
}

/** Creates a migrated database for one test or one file. */
export async function testDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const from = await (template ??= makeTemplate());
  const name = `gatehouse_test_${randomBytes(8).toString("hex")}`;
  // Copies files: the default strategy also writes everything to the WAL, which takes twice the CPU time.
  await asAdmin((client) => client.query(`CREATE DATABASE ${name} TEMPLATE ${from} STRATEGY = file_copy`));
  const url = await urlOf(name);
  const connection = openDatabase(url, { log: jsonLog("error"), ...options });
  return {
    url,
    db: connection.db,
    async close() {
      if (options.likeOthers !== false) await collectFilledFields(connection.db).catch(() => undefined);
      await connection.close();
      await asAdmin((client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
    },
  };
}
