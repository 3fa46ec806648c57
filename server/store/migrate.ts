import { readFile } from "node:fs/promises";
import { sql } from "kysely";
import type { Database } from "./database.ts";
import { databaseRefusal } from "./connections/database-state.ts";
import { FOLDED } from "./folded-migrations.ts";
import { migrationFileNames, digestsOfMigrations, MIGRATIONS_DIRECTORY, type Migrations } from "./migration-files.ts";
import { isHalfRestored } from "./unfinished-restore.ts";

// Arbitrary, but the same in every process that migrates the database.
const LOCK = 7_201_837_542;

/** A one-line reason why the gateway cannot start. */
export class MigrationError extends Error {}

/** Names of the migrations not yet applied to the database. Throws `MigrationError` where `migrate` would. */
export async function pendingMigrations(db: Database): Promise<string[]> {
  await refuseHalfRestored(db);
  const files = await migrationFileNames();
  if (!(await hasMigrations(db))) return files;
  const digests = await digestsOfMigrations(files);
  const applied = afterFolding(await appliedMigrations(db), digests);
  refuseOthers(applied, digests);
  return files.filter((name) => !applied.has(name));
}

/** Migrates a database that is being restored, and may have some of these migrations, to exactly these. Throws `MigrationError`. */
export async function migrateTo(db: Database, migrations: Migrations): Promise<void> {
  await applyOrRefuse(() => applyNew(db, (name) => migrations.has(name)));
}

export async function hasMigrations(db: Database): Promise<boolean> {
  const { rows } = await sql<{ there: boolean }>`SELECT to_regclass('schema_migrations') IS NOT NULL AS there`.execute(db);
  return rows[0]?.there === true;
}

/** Applies pending migrations in order, each in its own transaction. Safe to run in many processes at once. Throws `MigrationError`. */
export async function migrate(db: Database): Promise<void> {
  await applyOrRefuse(async () => {
    await refuseHalfRestored(db);
    await applyNew(db, () => true);
  });
}

/** Throws `MigrationError` if nothing should start on the database or back it up, because a restore into it has not ended. */
export async function refuseHalfRestored(db: Database): Promise<void> {
  if (await isHalfRestored(db))
    throw new MigrationError("a restore of a backup into the database was broken off, or is still running: run gatehouse restore again");
}

async function applyOrRefuse(apply: () => Promise<void>): Promise<void> {
  try {
    await apply();
  } catch (error) {
    throw error instanceof MigrationError
      ? error
      : new MigrationError(`the database cannot be migrated: ${databaseRefusal(error) ?? (error as Error).message}`, { cause: error });
  }
}

async function applyNew(db: Database, wanted: (name: string) => boolean): Promise<void> {
  const files = (await migrationFileNames()).filter(wanted);
  const digests = await digestsOfMigrations(files);
  await db.connection().execute(async (connection) => {
    await sql`SELECT pg_advisory_lock(${sql.lit(LOCK)})`.execute(connection);
    try {
      await sql`CREATE TABLE IF NOT EXISTS schema_migrations (name text PRIMARY KEY, digest text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`.execute(
        connection,
      );
      const recorded = await appliedMigrations(connection);
      const applied = afterFolding(recorded, digests);
      refuseOthers(applied, digests);
      await recordFolding(connection, recorded, applied);
      for (const name of files) {
        if (applied.has(name)) continue;
        const text = await readFile(MIGRATIONS_DIRECTORY + name, "utf8");
        await connection.transaction().execute(async (trx) => {
          await sql.raw(text).execute(trx);
          await sql`INSERT INTO schema_migrations (name, digest) VALUES (${name}, ${digests.get(name)})`.execute(trx);
        });
      }
    } finally {
      await sql`SELECT pg_advisory_unlock(${sql.lit(LOCK)})`.execute(connection);
    }
  });
}

/** Name and digest of each migration applied to the database. */
export async function appliedMigrations(db: Database): Promise<Migrations> {
  const { rows } = await sql<{ name: string; digest: string }>`SELECT name, digest FROM schema_migrations ORDER BY name`.execute(db);
  return new Map(rows.map((row) => [row.name, row.digest]));
}

/**
 * Translates recorded migrations of folded series into the files that replace them. A partly applied series cannot be completed, because
 * its files are gone.
 */
function afterFolding(recorded: Migrations, digests: Migrations): Migrations {
  const applied = new Map(recorded);
  for (const { from, into } of FOLDED) {
    const names = Object.keys(from);
    if (!names.some((name) => applied.has(name))) continue;
    const missing = names.find((name) => !applied.has(name));
    if (missing !== undefined)
      throw new MigrationError(
        `the database is too old for this release (it lacks ${missing}): start the last release that has ${names.at(-1)} on it ` +
          `once, then this one`,
      );
    for (const name of names) {
      if (applied.get(name) !== from[name]) throw new MigrationError(`migration ${name} was changed after it was applied`);
      applied.delete(name);
    }
    for (const name of into) applied.set(name, digests.get(name) ?? "");
  }
  return applied;
}

function refuseOthers(applied: Migrations, digests: Migrations): void {
  for (const [name, digest] of applied) {
    if (!digests.has(name))
      throw new MigrationError(
        `the database was migrated by a newer release (it has ${name}): start that release, or restore the backup that was made ` +
          "before it with this one",
      );
    if (digests.get(name) !== digest) throw new MigrationError(`migration ${name} was changed after it was applied`);
  }
}

async function recordFolding(connection: Database, recorded: Migrations, applied: Migrations): Promise<void> {
  const gone = [...recorded.keys()].filter((name) => !applied.has(name));
  if (gone.length === 0) return;
  await connection.transaction().execute(async (trx) => {
    await sql`DELETE FROM schema_migrations WHERE name = ANY(${gone})`.execute(trx);
    for (const [name, digest] of applied) {
      if (!recorded.has(name)) await sql`INSERT INTO schema_migrations (name, digest) VALUES (${name}, ${digest})`.execute(trx);
    }
  });
}
