import { sql } from "kysely";
import type { Database } from "../database.ts";
import { DERIVED } from "./runs.ts";

const SWEEP_BATCH = 1_000;
/** Runs of a deleted tenant get no more calls, but must end like others so that they are not kept forever. */
const GONE_IDLE_MINUTES = 30;
const SWEPT_TENANTS = sql`SELECT id, run_idle_minutes FROM tenants UNION ALL SELECT id, ${sql.lit(GONE_IDLE_MINUTES)} FROM gone_tenants g WHERE NOT EXISTS (SELECT FROM tenants t WHERE t.id = g.id)`;

/**
 * Ends open runs without a call for their tenant's `run_idle_minutes`, in the state their last call led to. They count as ended with that
 * call; calls are late from now on. Safe to run in many processes at once. Returns how many it ended.
 */
export async function endIdleRuns(db: Database, now: Date): Promise<number> {
  for (let total = 0; ;) {
    const { numAffectedRows } = await sql`
      UPDATE runs r SET state = ${DERIVED}, state_source = 'derived', ended_at = active_at, closed_at = ${now}
      FROM (SELECT o.tenant_id, o.root_task_id FROM runs o JOIN (${SWEPT_TENANTS}) t ON t.id = o.tenant_id
            WHERE o.state = 'open' AND o.started_at < ${now} AND o.active_at < ${now}::timestamptz - t.run_idle_minutes * interval '1 minute'
            ORDER BY o.tenant_id, o.root_task_id LIMIT ${sql.lit(SWEEP_BATCH)} FOR UPDATE OF o SKIP LOCKED) idle
      WHERE r.tenant_id = idle.tenant_id AND r.root_task_id = idle.root_task_id`.execute(db);
    const ended = Number(numAffectedRows ?? 0);
    total += ended;
    if (ended < SWEEP_BATCH) return total;
  }
}
