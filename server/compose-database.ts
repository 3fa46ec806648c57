import { type Configuration, ConfigurationError } from "./kernel/configuration.ts";
import type { Log } from "./kernel/log.ts";
import type { DataDirectory } from "./store/data-directory.ts";
import { type DatabaseConnection, openDatabase } from "./store/database.ts";
import { databaseFailure } from "./store/database-state.ts";
import { startEmbeddedPostgres } from "./store/embedded.ts";

/** What the driver cannot read of an address it says by throwing: a port there is not, a certificate that is not there. */
function openNamed(url: string, options: Parameters<typeof openDatabase>[1]): DatabaseConnection {
  try {
    return openDatabase(url, options);
  } catch (error) {
    throw new ConfigurationError(`DATABASE_URL cannot be used: ${(error as Error).message}`);
  }
}

/** The database that the configuration names, else one of our own. */
export async function connect(
  config: Configuration,
  directory: DataDirectory,
  log: Log,
  hooks: { readonly onQuery?: (sql: string) => void },
): Promise<{ connection: DatabaseConnection; description: string; close: () => Promise<void> }> {
  const options = { log, ...(hooks.onQuery === undefined ? {} : { onQuery: hooks.onQuery }) };
  if (config.databaseUrl !== undefined) {
    const connection = openNamed(config.databaseUrl, options);
    const failure = await databaseFailure(connection.db);
    if (failure !== null) {
      await connection.close();
      throw new ConfigurationError(`DATABASE_URL: ${failure}`);
    }
    return { connection, description: connection.place, close: connection.close };
  }
  const embedded = await startEmbeddedPostgres({ directory, log });
  const connection = openDatabase(embedded.url, options);
  return {
    connection,
    description: `embedded PostgreSQL in ${embedded.home}`,
    async close() {
      await connection.close();
      await embedded.stop();
    },
  };
}
