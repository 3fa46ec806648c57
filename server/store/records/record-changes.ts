import { sql } from "kysely";
import type pg from "pg";
import { type ChangeTopic, CHANGE_CHANNEL } from "./config-changes.ts";
import type { Trx } from "../database.ts";

export interface NewChange {
  readonly tenant_id: string;
  readonly topic: ChangeTopic;
  readonly ref?: string;
}

/**
 * Records configuration changes inside the transaction that makes them. The counter's row lock is held until commit, so versions become
 * visible in order and a reader polling `version > last` misses none.
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

/** The same on a plain connection that is in a transaction. */
export async function recordChangeOn(client: pg.PoolClient, change: { tenant_id: string; topic: ChangeTopic }): Promise<void> {
  const { rowCount } = await client.query(
    `WITH next AS (UPDATE config_version SET version = version + 1 RETURNING version),
      noted AS (INSERT INTO config_changes (version, tenant_id, topic) SELECT version, $1, $2 FROM next)
    SELECT pg_notify($3, version::text) FROM next`,
    [change.tenant_id, change.topic, CHANGE_CHANNEL],
  );
  if (rowCount !== 1) throw new Error("the configuration counter is missing");
}
