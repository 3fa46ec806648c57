import { Kysely, PostgresDialect } from "kysely";
import type pg from "pg";
import { type Database, poolOf } from "../database.ts";
import type { Schema } from "../schema.ts";

/** One connection of the pool, for a transaction that needs both the query builder and the plain driver. */
export interface HeldConnection {
  readonly db: Database;
  readonly client: pg.PoolClient;
  /** Returns it to the pool; with `broken` it is closed instead. */
  release(broken?: boolean): void;
}

export async function holdConnection(db: Database): Promise<HeldConnection> {
  const client = await poolOf(db).connect();
  const query = client.query.bind(client) as typeof client.query;
  const pool = { connect: async () => ({ query, release: () => undefined }), end: async () => undefined };
  return {
    db: new Kysely<Schema>({ dialect: new PostgresDialect({ pool: pool as unknown as pg.Pool }) }),
    client,
    release: (broken) => client.release(broken),
  };
}
