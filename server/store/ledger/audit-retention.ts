import { sql } from "kysely";
import type pg from "pg";
import type { Database } from "../database.ts";
import { LOCK } from "../people/erasure-lock.ts";
import { prepared } from "../connections/prepared.ts";
import { isRemovable } from "../tenants/legal-holds.ts";
import { forgetBlocksBetween } from "./forget-row-blocks.ts";
import { UNHASHED } from "./unhashed.ts";

const BATCH = 2_000;

export interface TenantRetention {
  readonly id: string;
  readonly body_days: number;
  readonly log_days: number;
  readonly run_days: number;
}

/** Includes deleted tenants, whose rows still exist. */
export async function tenantRetentions(db: Database): Promise<TenantRetention[]> {
  const { rows } = await sql<TenantRetention>`
    SELECT id, (data_retention->>'body_days')::bigint AS body_days, (data_retention->>'log_days')::bigint AS log_days, (data_retention->>'run_days')::bigint AS run_days
      FROM (SELECT id, data_retention FROM tenants UNION ALL SELECT id, data_retention FROM gone_tenants g WHERE NOT EXISTS (SELECT FROM tenants t WHERE t.id = g.id)) AS every
     ORDER BY id`.execute(db);
  return rows;
}

/** Removes the body previews of rows that arrived before `before`. Returns how many rows. */
export async function pruneBodies(db: Database, tenantId: string, before: Date, now: Date): Promise<number> {
  for (let total = 0; ;) {
    const { numAffectedRows } = await sql`
      UPDATE audit_rows SET request_body_preview = NULL, response_body_preview = NULL, bodies_pruned_at = ${now}
      WHERE id IN (SELECT id FROM audit_rows WHERE tenant_id = ${tenantId} AND id < audit_id_floor(${before}) AND bodies_pruned_at IS NULL AND ${isRemovable(tenantId)}
                     AND (request_body_preview IS NOT NULL OR response_body_preview IS NOT NULL) ORDER BY id LIMIT ${BATCH})`.execute(db);
    const pruned = Number(numAffectedRows ?? 0);
    total += pruned;
    if (pruned < BATCH) return total;
  }
}

/** Reduces a tenant's rows that arrived before `before` to the fields their hash covers. Returns how many. */
export async function reduceRows(db: Database, tenantId: string, before: Date, now: Date): Promise<number> {
  for (let total = 0; ;) {
    const reduced = await db.transaction().execute(async (trx) => {
      await sql`SELECT pg_advisory_xact_lock(${sql.lit(LOCK)})`.execute(trx);
      const { rows } = await sql<{ reduced: number; least: string | null; most: string | null }>`
      WITH due AS (
        SELECT id FROM audit_rows WHERE tenant_id = ${tenantId} AND id >= coalesce((SELECT reduced_before FROM audit_retention WHERE tenant_id = ${tenantId}), '') AND id < audit_id_floor(${before})
           AND ${isRemovable(tenantId)}
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

/** Reduces newly stored rows of a period that was already reduced. `which` is a condition on `audit_rows a`. */
export async function reduceArrivals(client: pg.PoolClient, which: string, parameters: readonly unknown[]): Promise<void> {
  await client.query(prepared(REDUCE_ARRIVALS(which), parameters));
}

/** Removes ended runs that started before `before`, hourly sums without runs, and feedback on deleted runs given before then. */
export async function pruneRuns(db: Database, tenantId: string, before: Date): Promise<number> {
  for (let total = 0; ;) {
    const { numAffectedRows } = await sql`
      DELETE FROM runs WHERE (tenant_id, root_task_id) IN (SELECT tenant_id, root_task_id FROM runs WHERE tenant_id = ${tenantId} AND started_at < ${before} AND state <> 'open' AND ${isRemovable(tenantId)} LIMIT ${BATCH})`.execute(
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
