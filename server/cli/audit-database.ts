import { existsSync } from "node:fs";
import { join } from "node:path";
import { jsonLog } from "../kernel/log.ts";
import { openDataDirectory } from "../store/data-directory.ts";
import { openDatabase, type Database } from "../store/database.ts";
import { startEmbeddedPostgres } from "../store/embedded.ts";
import { EMBEDDED_PASSWORD, runningUrl } from "./running-database.ts";

export interface AuditDatabase {
  readonly db: Database;
  close(): Promise<void>;
}

/** The database at `url`, otherwise the embedded one of `dataDir`: that of a running gateway, or one started for the duration. */
export async function openAuditDatabase(source: { url: string | undefined; dataDir: string }): Promise<AuditDatabase> {
  const log = jsonLog("error");
  if (source.url !== undefined) {
    const connection = openDatabase(source.url, { log, max: 2 });
    return { db: connection.db, close: connection.close };
  }
  const password = join(source.dataDir, "secrets", EMBEDDED_PASSWORD);
  if (!existsSync(password) && existsSync(join(source.dataDir, "postgresql", "cluster")))
    throw new Error(`the database in ${source.dataDir} was made with a password that is gone: put ${password} back`);
  if (!existsSync(password))
    throw new Error(`there is no embedded database in ${source.dataDir}: name one with --database-url or --data-dir`);
  const running = runningUrl(source.dataDir);
  if (running !== null) {
    const connection = openDatabase(running, { log, max: 2 });
    return { db: connection.db, close: connection.close };
  }
  const directory = openDataDirectory(source.dataDir);
  try {
    const postgres = await startEmbeddedPostgres({ directory, log });
    const connection = openDatabase(postgres.url, { log, max: 2 });
    return {
      db: connection.db,
      async close() {
        await connection.close();
        await postgres.stop();
        directory.close();
      },
    };
  } catch (error) {
    directory.close();
    throw error;
  }
}
