import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import type { Database } from "./database.ts";

const DIRECTORY = fileURLToPath(new URL("./migrations/", import.meta.url));
// Any constant will do: it only has to be the same in every process that migrates this database.
const LOCK = 7_201_837_542;

/** A reason not to start, in one line. */
export class MigrationError extends Error {}

/** Major version of the server. */
export async function serverVersion(db: Database): Promise<number> {
  const { rows } = await sql<{ version: string }>`SELECT current_setting('server_version_num') AS version`.execute(db);
  return Math.floor(Number(rows[0]?.version ?? 0) / 10_000);
}

/** Names of the migrations the database does not have yet. */
export async function pendingMigrations(db: Database): Promise<string[]> {
  const files = (await readdir(DIRECTORY)).filter((name) => name.endsWith(".sql")).sort();
  const { rows: made } = await sql<{ there: boolean }>`SELECT to_regclass('schema_migrations') IS NOT NULL AS there`.execute(db);
  if (made[0]?.there !== true) return files;
  const { rows } = await sql<{ name: string }>`SELECT name FROM schema_migrations`.execute(db);
  const applied = new Set(rows.map(({ name }) => name));
  return files.filter((name) => !applied.has(name));
}

/** Applies what is new of `migrations/`, in number order, each in its own transaction. Safe to run from many processes. Throws `MigrationError`. */
export async function migrate(db: Database): Promise<void> {
  try {
    await applyNew(db);
  } catch (error) {
    throw error instanceof MigrationError
      ? error
      : new MigrationError(`the database cannot be migrated: ${(error as Error).message}`, { cause: error });
  }
}

async function applyNew(db: Database): Promise<void> {
  const files = (await readdir(DIRECTORY)).filter((name) => name.endsWith(".sql")).sort();
  await db.connection().execute(async (connection) => {
    await sql`SELECT pg_advisory_lock(${sql.lit(LOCK)})`.execute(connection);
    try {
      await sql`CREATE TABLE IF NOT EXISTS schema_migrations (name text PRIMARY KEY, digest text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`.execute(
        connection,
      );
      const applied = new Map(
        (await sql<{ name: string; digest: string }>`SELECT name, digest FROM schema_migrations`.execute(connection)).rows.map((row) => [
          row.name,
          row.digest,
        ]),
      );
      for (const name of applied.keys()) {
        if (!files.includes(name)) throw new MigrationError(`the database was migrated by a newer release (it has ${name})`);
      }
      for (const name of files) {
        const text = await readFile(DIRECTORY + name, "utf8");
        const digest = createHash("sha256").update(text).digest("hex");
        const known = applied.get(name);
        if (known === digest) continue;
        if (known !== undefined) throw new MigrationError(`migration ${name} was changed after it was applied`);
        await connection.transaction().execute(async (trx) => {
          await sql.raw(text).execute(trx);
          await sql`INSERT INTO schema_migrations (name, digest) VALUES (${name}, ${digest})`.execute(trx);
        });
      }
    } finally {
      await sql`SELECT pg_advisory_unlock(${sql.lit(LOCK)})`.execute(connection);
    }
  });
}
