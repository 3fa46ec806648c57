import { sql } from "kysely";
import { changeCost, claimCost, lockedCost, uncountedMicros, withKey } from "./agent-cost-claims.ts";
import type { AgentTaskRow, TaskKey } from "./agent-tasks.ts";
import type { Database } from "../database.ts";
import { inMs } from "../records/in-ms.ts";

/**
 * Records the cost that an agent reported for a task; row `rowId` will report it. Returns the change against what was counted before, in
 * micro-dollars: negative if the agent corrected downwards a cost of which this caller had counted `own`. Returns undefined if there is no
 * such task.
 */
export async function countTaskCost(db: Database, key: TaskKey, reported: number, own: number, rowId: string): Promise<number | undefined> {
  return db.transaction().execute(async (trx) => {
    const task = await lockedCost(trx, key);
    if (task === undefined) return undefined;
    const before = Number(task.counted_micros);
    const counted = Math.max(reported, before - own);
    if (counted === before) return 0;
    await changeCost(trx, key, { counted_micros: counted });
    await claimCost(trx, key, rowId, own + counted - before);
    return counted - before;
  });
}

/**
 * Starts counting the cost of another message of the task. Returns the cost reported for the message before, which a row reports or will
 * report.
 */
export async function restartTaskCost(db: Database, key: TaskKey): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const task = await lockedCost(trx, key);
    if (task === undefined) return 0;
    const [counted, told] = [Number(task.counted_micros), Number(task.told_micros)];
    if (counted + told > 0)
      await changeCost(trx, key, {
        counted_micros: 0,
        told_micros: 0,
        owed_micros: Number(task.owed_micros) + Math.max(0, told - counted),
      });
    return Math.max(counted, told);
  });
}

/** Undoes a restart because the other message never reached the agent: what it reports is still the cost of the message before. */
export async function resumeTaskCost(db: Database, key: TaskKey, counted: number): Promise<void> {
  await db
    .updateTable("agent_tasks")
    .set({ counted_micros: sql<number>`greatest(counted_micros, ${counted}::bigint)` })
    .where((eb) => eb.and(withKey(key)))
    .execute();
}

/** Records a cost that an agent reported outside any call. A row is due in `afterMs`, unless a call counts the cost before that. */
export async function noteReportedCost(db: Database, key: TaskKey, micros: number, afterMs: number): Promise<void> {
  await db
    .updateTable("agent_tasks")
    .set({
      told_micros: sql<number>`greatest(told_micros, ${micros}::bigint)`,
      cost_due_at: sql<Date>`least(cost_due_at, ${inMs(afterMs)})`,
    })
    .where((eb) => eb.and(withKey(key)))
    .where(sql<boolean>`${micros}::bigint > counted_micros AND (${micros}::bigint > told_micros OR cost_due_at > ${inMs(afterMs)})`)
    .execute();
}

/** A task with its unreported cost, in micro-dollars. */
export type DueCost = AgentTaskRow & { readonly micros: number };

/** Leases tasks whose cost is due to be reported for `leaseMs`. Tasks whose cost was reported by calls in the meantime are left out. */
export async function takeDueCosts(db: Database, most: number, leaseMs: number): Promise<DueCost[]> {
  const { rows } = await sql<AgentTaskRow>`
    UPDATE agent_tasks t
    SET cost_due_at = CASE WHEN t.owed_micros > 0 OR t.told_micros > t.counted_micros THEN ${inMs(leaseMs)} END
    WHERE (t.tenant_id, t.agent_id, t.id) IN (
      SELECT k.tenant_id, k.agent_id, k.id FROM agent_tasks k WHERE k.cost_due_at < now()
      ORDER BY k.cost_due_at LIMIT ${most} FOR UPDATE SKIP LOCKED)
    RETURNING t.*`.execute(db);
  return rows.map((row) => ({ ...row, micros: uncountedMicros(row) })).filter(({ micros }) => micros > 0);
}
