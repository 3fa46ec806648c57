import { sql } from "kysely";
import { changeCost, claimCost, lockedCost, inMs, uncountedMicros, withKey } from "./agent-cost-claims.ts";
import type { AgentTaskRow, TaskKey } from "./agent-tasks.ts";
import type { Database } from "../database.ts";

/**
 * Takes down what an agent told of a task's cost, to be told by the row `rowId`; what that adds to what was counted before, less than
 * nothing where it told whoever counted `own` of it of less than that. Undefined: there is no such task.
 */
export async function countTaskCost(db: Database, key: TaskKey, told: number, own: number, rowId: string): Promise<number | undefined> {
  return db.transaction().execute(async (trx) => {
    const task = await lockedCost(trx, key);
    if (task === undefined) return undefined;
    const before = Number(task.counted_micros);
    const counted = Math.max(told, before - own);
    if (counted === before) return 0;
    await changeCost(trx, key, { counted_micros: counted });
    await claimCost(trx, key, rowId, own + counted - before);
    return counted - before;
  });
}

/** What is told from now on is the cost of another message. What was told of the one before, and is now on its way to a row or on it. */
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

/** Another message did not get to the agent after all: what it told before is still the cost of the one that was counted. */
export async function resumeTaskCost(db: Database, key: TaskKey, counted: number): Promise<void> {
  await db
    .updateTable("agent_tasks")
    .set({ counted_micros: sql<number>`greatest(counted_micros, ${counted}::bigint)` })
    .where((eb) => eb.and(withKey(key)))
    .execute();
}

/** An agent told of a task's cost while no call heard it: a row is due in `afterMs`, unless a call counts it before. */
export async function noteToldCost(db: Database, key: TaskKey, micros: number, afterMs: number): Promise<void> {
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

/** A task, with what no row tells yet of what it cost. */
export type DueCost = AgentTaskRow & { readonly micros: number };

/** Takes tasks whose cost a row is to tell of now; nobody else takes them for `leaseMs`. Those of which calls told meanwhile are over. */
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
