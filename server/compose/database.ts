import type { Configuration } from "../kernel/configuration/configuration.ts";
import { ConfigurationError } from "../kernel/configuration/read-variable.ts";
import type { Log } from "../kernel/log.ts";
import type { DataDirectory } from "../store/data-directory.ts";
import { type DatabaseConnection, openDatabase } from "../store/database.ts";
import { databaseFailure } from "../store/connections/database-state.ts";
import { startEmbeddedPostgres } from "../store/embedded.ts";

/** Each process needs a few connections for LISTEN in addition to its pool. */
const CONNECTIONS_OF_EACH = 12;
const CONNECTIONS_OF_ONE = 60;

/** Pool size of one process. It shrinks as processes are added, so that together they do not overload the database. */
const connectionsOf = (processes: number): number => Math.max(5, Math.floor(10 / Math.sqrt(processes)));

/** The driver throws on addresses it cannot use, for example an invalid port or a missing certificate file. */
function openNamed(url: string, options: Parameters<typeof openDatabase>[1]): DatabaseConnection {
  try {
    return openDatabase(url, options);
  } catch (error) {
    throw new ConfigurationError(`DATABASE_URL cannot be used: ${(error as Error).message}`);
  }
}

/** Connects to the configured database, else starts the embedded one. Throws `ConfigurationError` if the configured one cannot be used. */
export async function connect(
  config: Configuration,
  directory: DataDirectory,
  log: Log,
  hooks: { readonly onQuery?: (sql: string) => void },
  processes: number,
): Promise<{ connection: DatabaseConnection; url: string; description: string; close: () => Promise<void> }> {
  const options = { log, max: connectionsOf(processes), ...(hooks.onQuery === undefined ? {} : { onQuery: hooks.onQuery }) };
  if (config.databaseUrl !== undefined) {
    const connection = openNamed(config.databaseUrl, options);
    const failure = await databaseFailure(connection.db);
    if (failure !== null) {
      await connection.close();
      throw new ConfigurationError(`DATABASE_URL: ${failure}`);
    }
    return { connection, url: config.databaseUrl, description: connection.place, close: connection.close };
  }
  const embedded = await startEmbeddedPostgres({
    directory,
    log,
    settings: processes === 1 ? {} : { max_connections: String(CONNECTIONS_OF_ONE + processes * CONNECTIONS_OF_EACH) },
  });
  const connection = openDatabase(embedded.url, options);
  return {
    connection,
    url: embedded.url,
    description: `embedded PostgreSQL in ${embedded.home}`,
    async close() {
      await connection.close();
      await embedded.stop();
    },
  };
}
