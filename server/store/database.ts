import { Kysely, PostgresDialect, type Transaction } from "kysely";
import pg from "pg";
import type { Log } from "../kernel/log.ts";
import type { Schema } from "./schema.ts";
import { SilentConnections } from "./connections/silent-connections.ts";

export type Database = Kysely<Schema>;
export type Trx = Transaction<Schema>;

export interface DatabaseConnection {
  readonly db: Database;
  /** For a separate connection outside the pool (LISTEN). */
  readonly connectionConfig: pg.ClientConfig;
  /** Where the database is, without user and password. */
  readonly place: string;
  close(): Promise<void>;
}

// int8 and numeric as numbers: our counters stay below 2^53, and money is micro-dollars.
const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, Number);
types.setTypeParser(pg.types.builtins.NUMERIC, Number);

const pools = new WeakMap<Database, pg.Pool>();

/** The pool below the query builder, for what it cannot express (COPY). */
export function poolOf(db: Database): pg.Pool {
  const pool = pools.get(db);
  if (pool === undefined) throw new Error("a database that was not opened here has no pool");
  return pool;
}

/** `url` is a libpq connection string; `onQuery` sees every statement (tests count them). */
export function openDatabase(url: string, options: { log: Log; max?: number; onQuery?: (sql: string) => void }): DatabaseConnection {
  const connectionConfig: pg.ClientConfig = {
    connectionString: url,
    types,
    connectionTimeoutMillis: 5_000,
    application_name: "gatehouse",
    // Firewalls and proxies forget connections that are idle for long.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  };
  const pool: pg.Pool = new pg.Pool({
    ...connectionConfig,
    max: options.max ?? 10,
    idleTimeoutMillis: 30_000,
    onConnect: (client) => silent.watch(client),
  });
  const silent = new SilentConnections(pool, connectionConfig, options.log);
  let closing = false;
  // A connection lost while idle is replaced at the next query; without a listener the error would end the process. Losing one while
  // closing, as when the server stops at the same time, is no problem.
  pool.on("error", (error) => options.log[closing ? "debug" : "warn"]("database_connection_lost", { error }));
  // If a connection is lost during a query, that query fails too; if it is held idle, its holder finds out at the next query.
  pool.on("connect", (client) => client.on("error", (error) => options.log.debug("database_connection_lost_in_use", { error })));
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }), log: (event) => options.onQuery?.(event.query.sql) });
  pools.set(db, pool);
  const close = () => {
    closing = true;
    return db.destroy().finally(() => silent.stop());
  };
  return { db, connectionConfig, place: placeOf(connectionConfig), close };
}

/** Asks the driver, because it accepts more kinds of address than a URL parser. */
function placeOf(config: pg.ClientConfig): string {
  const { host, port, database } = new pg.Client(config);
  return host.startsWith("/") ? `PostgreSQL database ${database} on the socket in ${host}` : `postgres://${host}:${port}/${database}`;
}
