import type { Database } from "./database.ts";
import { appliedMigrations, hasMigrations, MigrationError } from "./migrate.ts";
import { digestsOfMigrations, migrationFileNames, type Migrations } from "./migration-files.ts";

/** Throws `MigrationError` unless this release has exactly these migrations among its own. */
export async function requireMigrations(migrations: Migrations): Promise<void> {
  const digests = await digestsOfMigrations(await migrationFileNames());
  for (const [name, digest] of migrations) {
    if (!digests.has(name))
      throw new MigrationError(`it needs migration ${name}, which this release does not have: restore with the release that made it`);
    if (digests.get(name) !== digest) throw new MigrationError(`migration ${name} of this release is another one than that of the backup`);
  }
}

/** Migrations cannot be taken back, so a restore that was broken off cannot be finished with a backup that lacks some of them. */
export async function refuseOtherBackup(db: Database, migrations: Migrations): Promise<void> {
  if (!(await hasMigrations(db))) return;
  const surplus = [...(await appliedMigrations(db)).keys()].find((name) => !migrations.has(name));
  if (surplus !== undefined)
    throw new MigrationError(
      `a restore of another backup into the database was broken off, and this backup is of an older release (it lacks ${surplus}): ` +
        "restore that other backup, or this one into a database without tables",
    );
}
