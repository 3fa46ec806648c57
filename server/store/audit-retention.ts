import { sql } from "kysely";
import type pg from "pg";
import type { Database, Trx } from "./database.ts";
import { LOCK } from "./erasure-lock.ts";
import { prepared } from "./prepared.ts";
import { forgetBlocksBefore, forgetBlocksBetween } from "./row-blocks.ts";
import { UNHASHED } from "./unhashed.ts";

const BATCH = 2_000;

export interface TenantRetention {
  readonly id: string;
  readonly body_days: number;
  readonly log_days: number;
  readonly run_days: number;
}

/** Those of tenants that are gone as well: their rows are still there. */
export async function tenantRetentions(db: Database): Promise<TenantRetention[]> {
  const { rows } = await sql<TenantRetention>`
    SELECT id, (data_retention->>'body_days')::bigint AS body_days, (data_retention->>'log_days')::bigint AS log_days, (data_retention->>'run_days')::bigint AS run_days
      FROM (SELECT id, data_retention FROM tenants UNION ALL SELECT id, data_retention FROM gone_tenants g WHERE NOT EXISTS (SELECT FROM tenants t WHERE t.id = g.id)) AS every
     ORDER BY id`.execute(db);
  return rows;
}

/** Removes the previews of rows that arrived before `before`. Returns how many. */
export async function pruneBodies(db: Database, tenantId: string, before: Date, now: Date): Promise<number> {
  for (let total = 0; ;) {
    const { numAffectedRows } = await sql`
      UPDATE audit_rows SET request_body_preview = NULL, response_body_preview = NULL, bodies_pruned_at = ${now}
      WHERE id IN (SELECT id FROM audit_rows WHERE tenant_id = ${tenantId} AND id < audit_id_floor(${before}) AND bodies_pruned_at IS NULL
                     AND (request_body_preview IS NOT NULL OR response_body_preview IS NOT NULL) ORDER BY id LIMIT ${BATCH})`.execute(db);
    const pruned = Number(numAffectedRows ?? 0);
    total += pruned;
    if (pruned < BATCH) return total;
  }
}

/** Reduces the rows of a tenant that arrived before `before` to what their hash covers. Returns how many. */
export async function reduceRows(db: Database, tenantId: string, before: Date, now: Date): Promise<number> {
  for (let total = 0; ;) {
    const reduced = await db.transaction().execute(async (trx) => {
      await sql`SELECT pg_advisory_xact_lock(${sql.lit(LOCK)})`.execute(trx);
      const { rows } = await sql<{ reduced: number; least: string | null; most: string | null }>`
      WITH due AS (
        SELECT id FROM audit_rows WHERE tenant_id = ${tenantId} AND id >= coalesce((SELECT reduced_before FROM audit_retention WHERE tenant_id = ${tenantId}), '') AND id < audit_id_floor(${before})
        ORDER BY id LIMIT ${BATCH}
      ), reduced AS (
        UPDATE audit_rows SET ${sql.join(UNHASHED.map((name) => sql`${sql.ref(name)} = NULL`))}, bodies_pruned_at = coalesce(bodies_pruned_at, ${now})
        WHERE id IN (SELECT id FROM due)
      ), marked AS (
        INSERT INTO audit_retention (tenant_id, reduced_before) SELECT ${tenantId}, max(id) || '0' FROM due HAVING count(*) > 0
        ON CONFLICT (tenant_id) DO UPDATE SET reduced_before = excluded.reduced_before
      )
      SELECT count(*) AS reduced, min(id) AS least, max(id) AS most FROM due`.execute(trx);
      const { reduced: count = 0, least = null, most = null } = rows[0] ?? {};
      if (least !== null && most !== null) await forgetBlocksBetween(trx, least, most);
      return count;
    });
    total += reduced;
    if (reduced < BATCH) return total;
  }
}

const REDUCE_ARRIVALS = (which: string) => `
  UPDATE audit_rows a SET ${UNHASHED.map((name) => `${name} = NULL`).join(", ")}, bodies_pruned_at = coalesce(a.bodies_pruned_at, now())
  FROM audit_retention r WHERE ${which} AND r.tenant_id = a.tenant_id AND a.id < r.reduced_before`;

/** Reduces what has just been stored of times that were reduced before it arrived. `which` is a condition on `audit_rows a`. */
export async function reduceArrivals(client: pg.PoolClient, which: string, parameters: readonly unknown[]): Promise<void> {
  await client.query(prepared(REDUCE_ARRIVALS(which), parameters));
}

/** Removes ended runs that started before `before`, hours of which no run is left, and what people said before of runs that are gone. */
export async function pruneRuns(db: Database, tenantId: string, before: Date): Promise<number> {
  for (let total = 0; ;) {
    const { numAffectedRows } = await sql`
      DELETE FROM runs WHERE (tenant_id, root_task_id) IN (SELECT tenant_id, root_task_id FROM runs WHERE tenant_id = ${tenantId} AND started_at < ${before} AND state <> 'open' LIMIT ${BATCH})`.execute(
      db,
    );
    const pruned = Number(numAffectedRows ?? 0);
    total += pruned;
    if (pruned === BATCH) continue;
    await sql`DELETE FROM run_hourly WHERE tenant_id = ${tenantId} AND hour < ${before} AND runs = 0`.execute(db);
    await sql`DELETE FROM run_feedback f WHERE tenant_id = ${tenantId} AND updated_at < ${before} AND NOT EXISTS (SELECT FROM runs r WHERE r.tenant_id = f.tenant_id AND r.root_task_id = f.root_task_id)`.execute(
      db,
    );
    return total;
  }
}

/** Makes the partitions of the month of `now` and the two after it. */
export async function ensurePartitions(db: Database, now: Date): Promise<void> {
  for (let month = 0; month < 3; month++)
    await sql`SELECT ensure_audit_partition(date_trunc('month', ${now}::timestamptz, 'UTC') + ${month} * interval '32 days')`.execute(db);
}

/** ISO date up to which there are partitions, null without any. */
export async function ensuredUntil(db: Database): Promise<string | null> {
  const { rows } = await sql<{ until: string | null }>`
    SELECT to_char(to_date(right(max(c.relname), 7), 'YYYY_MM') + interval '1 month', 'YYYY-MM-DD') AS until
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'audit_rows'::regclass AND c.relname ~ '^audit_rows_[0-9]{4}_[0-9]{2}$'`.execute(
    db,
  );
  return rows[0]?.until ?? null;
}

/** Partitions whose rows all arrived before `before`, oldest first. */
export async function partitionsBefore(trx: Trx, before: Date): Promise<string[]> {
  const month = `audit_rows_${before.getUTCFullYear()}_${String(before.getUTCMonth() + 1).padStart(2, "0")}`;
  const { rows } = await sql<{ name: string }>`
    SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'audit_rows'::regclass AND c.relname ~ '^audit_rows_[0-9]{4}_[0-9]{2}$' AND c.relname < ${month} ORDER BY 1`.execute(
    trx,
  );
  return rows.map((row) => row.name);
}

/** A stretch at the beginning of a chain that a signed checkpoint covers and nothing younger interrupts. */
export interface DroppablePrefix {
  readonly chain_id: string;
  readonly through_seq: number;
  readonly checkpoint_no: number;
  readonly note: string;
  /** Of the row at `through_seq`; null when it is not there. */
  readonly row_hash: string | null;
}

/** For each chain the longest prefix of rows that all arrived before `before` and that ends at a checkpoint. */
export async function droppablePrefixes(trx: Trx, before: Date): Promise<DroppablePrefix[]> {
  const { rows } = await sql<DroppablePrefix>`
    SELECT c.chain_id, p.chain_seq AS through_seq, p.checkpoint_no, p.note,
      (SELECT row_hash FROM audit_rows a WHERE a.chain_id = c.chain_id AND a.chain_seq = p.chain_seq ORDER BY a.id LIMIT 1) AS row_hash
    FROM audit_chains c CROSS JOIN LATERAL (
      SELECT chain_seq, checkpoint_no, note FROM audit_checkpoints k
      WHERE k.chain_id = c.chain_id AND k.chain_seq >= c.first_seq
        AND k.chain_seq < coalesce((SELECT min(chain_seq) FROM audit_rows y WHERE y.chain_id = c.chain_id AND y.id >= audit_id_floor(${before})), k.chain_seq + 1)
      ORDER BY k.checkpoint_no DESC LIMIT 1) p
    ORDER BY c.chain_id`.execute(trx);
  return rows;
}

/**
 * Drops partitions but for the rows that stand in no prefix: those go where odd rows go. The chains then begin behind
 * their prefix. `before` is where the partitions end.
 */
export async function dropPrefixes(
  trx: Trx,
  partitions: readonly string[],
  prefixes: readonly DroppablePrefix[],
  before: Date,
): Promise<void> {
  await sql`SET LOCAL lock_timeout = '5s'`.execute(trx);
  const chains = prefixes.map((prefix) => prefix.chain_id);
  const ends = prefixes.map((prefix) => prefix.through_seq);
  const dropped = sql`unnest(${chains}::text[], ${ends}::bigint[]) AS d (chain_id, through_seq)`;
  for (const name of partitions) {
    const table = sql.table(name);
    await sql`ALTER TABLE audit_rows DETACH PARTITION ${table}`.execute(trx);
    await sql`INSERT INTO audit_rows SELECT a.* FROM ${table} a WHERE NOT EXISTS (SELECT FROM ${dropped} WHERE d.chain_id = a.chain_id AND a.chain_seq <= d.through_seq)`.execute(
      trx,
    );
    await sql`DROP TABLE ${table}`.execute(trx);
  }
  await sql`DELETE FROM audit_rows_rest a USING ${dropped} WHERE a.chain_id = d.chain_id AND a.chain_seq <= d.through_seq`.execute(trx);
  await forgetBlocksBefore(trx, before);
  await sql`UPDATE audit_chains c SET first_seq = d.through_seq + 1 FROM ${dropped} WHERE c.chain_id = d.chain_id`.execute(trx);
}
