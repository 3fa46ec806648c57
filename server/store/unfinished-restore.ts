import { sql } from "kysely";
import type pg from "pg";
import type { Database } from "./database.ts";
import { hasTables } from "./inspect-database.ts";

/**
 * A backup is restored in one transaction, but migrations before it have transactions of their own. So a table is there from before the
 * first one until that transaction commits: a gateway started on such a database would begin anew, as if there had been no backup.
 */
const MARK = "unfinished_restore";
// Arbitrary, but the same in every process that restores.
const LOCK = 7_301_837_542;

export async function isHalfRestored(db: Database): Promise<boolean> {
  const { rows } = await sql<{ there: boolean }>`SELECT to_regclass(${MARK}) IS NOT NULL AS there`.execute(db);
  return rows[0]?.there === true;
}

/**
 * Marks a database as being restored, until `endRestore` or for good if that is never reached. Returns false if it has tables that no
 * unfinished restore made. Throws while another process is restoring into it. The connection holds the lock until it is closed.
 */
export async function beginRestore(db: Database, client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ alone: boolean }>("SELECT pg_try_advisory_lock($1) AS alone", [LOCK]);
  if (rows[0]?.alone !== true)
    throw new Error("another process is restoring a backup into the database, or was killed a moment ago: try again");
  if ((await hasTables(db)) && !(await isHalfRestored(db))) return false;
  await client.query(`CREATE TABLE IF NOT EXISTS ${MARK} (begun_at timestamptz NOT NULL DEFAULT now())`);
  return true;
}

/** Call in the transaction that loads the backup. */
export async function endRestore(client: pg.ClientBase): Promise<void> {
  await client.query(`DROP TABLE ${MARK}`);
}
