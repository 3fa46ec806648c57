import { sql } from "kysely";
import type pg from "pg";
import type { Database, Trx } from "./database.ts";

/** What a runtime process must renew. `ref` names the record where renewing less than the tenant is possible. */
export type ChangeTopic = "tenant" | "policy" | "api_key" | "end_user" | "oauth_tokens" | "identity_provider";

export interface ConfigChange {
  readonly version: number;
  readonly tenant_id: string;
  readonly topic: ChangeTopic;
  readonly ref: string | null;
}

export const CHANGE_CHANNEL = "gatehouse_config";

export interface NewChange {
  readonly tenant_id: string;
  readonly topic: ChangeTopic;
  readonly ref?: string;
}

/**
 * Records changes of configuration inside the transaction that makes them. The counter's row lock is held until the
 * commit, so versions become visible in order and a reader that polls `version > last` misses none.
 */
export async function recordChanges(trx: Trx, changes: readonly NewChange[]): Promise<void> {
  if (changes.length === 0) return;
  const tenants = changes.map((change) => change.tenant_id);
  const topics = changes.map((change) => change.topic);
  const refs = changes.map((change) => change.ref ?? null);
  const { rows } = await sql`
    WITH next AS (UPDATE config_version SET version = version + ${changes.length}::int RETURNING version),
      noted AS (
        INSERT INTO config_changes (version, tenant_id, topic, ref)
        SELECT next.version - ${changes.length}::int + one.at, one.tenant_id, one.topic, one.ref
          FROM next, unnest(${tenants}::text[], ${topics}::text[], ${refs}::text[]) WITH ORDINALITY AS one(tenant_id, topic, ref, at))
    SELECT pg_notify(${CHANGE_CHANNEL}, version::text) FROM next`.execute(trx);
  if (rows.length !== 1) throw new Error("the configuration counter is missing");
}

/** The same on a connection that is in a transaction of its own. */
export async function recordChangeOn(client: pg.PoolClient, change: { tenant_id: string; topic: ChangeTopic }): Promise<void> {
  const { rowCount } = await client.query(
    `WITH next AS (UPDATE config_version SET version = version + 1 RETURNING version),
      noted AS (INSERT INTO config_changes (version, tenant_id, topic) SELECT version, $1, $2 FROM next)
    SELECT pg_notify($3, version::text) FROM next`,
    [change.tenant_id, change.topic, CHANGE_CHANNEL],
  );
  if (rowCount !== 1) throw new Error("the configuration counter is missing");
}

export async function latestVersion(db: Database): Promise<number> {
  const row = await db.selectFrom("config_version").select("version").executeTakeFirst();
  return row?.version ?? 0;
}

export const CHANGES_AT_ONCE = 1_000;

/** Changes after `version`, oldest first; at most `CHANGES_AT_ONCE`. */
export async function changesAfter(db: Database, version: number): Promise<ConfigChange[]> {
  const rows = await db
    .selectFrom("config_changes")
    .select(["version", "tenant_id", "topic", "ref"])
    .where("version", ">", version)
    .orderBy("version")
    .limit(CHANGES_AT_ONCE)
    .execute();
  return rows as ConfigChange[];
}

/** Changes older than a day: every live process has followed them, and one that was away starts from the tables. */
export async function pruneChanges(db: Database): Promise<void> {
  await db
    .deleteFrom("config_changes")
    .where("at", "<", sql<Date>`now() - interval '1 day'`)
    .execute();
}
