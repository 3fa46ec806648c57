import { sql, type Updateable } from "kysely";
import type { AgentTaskRow, TaskKey } from "./agent-tasks.ts";
import type { Database, Trx } from "../database.ts";
import type { AgentTaskTable } from "../tables/agents.ts";
import { inMs } from "../records/in-ms.ts";

export const withKey = ({ tenant_id, agent_id, id }: TaskKey) => ({ tenant_id, agent_id, id });
const ofTask = ({ tenant_id, agent_id, id }: TaskKey) => ({ tenant_id, agent_id, task_id: id });

/** How often to check again for a row that has not been stored yet. */
const POLL_INTERVAL_MS = 30_000;
/** How long to wait for a row that a process was about to write when it died: it may come back with its journal for that long. */
const ROW_TIMEOUT_MS = 24 * 3_600_000;

export const lockedCost = (db: Database | Trx, key: TaskKey) =>
  db
    .selectFrom("agent_tasks")
    .select(["counted_micros", "told_micros", "owed_micros"])
    .where((eb) => eb.and(withKey(key)))
    .forUpdate()
    .executeTakeFirst();

export const changeCost = (
  trx: Trx,
  key: TaskKey,
  change: Pick<Updateable<AgentTaskTable>, "counted_micros" | "told_micros" | "owed_micros" | "cost_due_at">,
) =>
  trx
    .updateTable("agent_tasks")
    .set(change)
    .where((eb) => eb.and(withKey(key)))
    .execute();

export const claimCost = (trx: Trx, key: TaskKey, rowId: string, micros: number) =>
  trx
    .insertInto("agent_cost_claims")
    .values({ ...ofTask(key), row_id: rowId, micros, look_at: inMs(POLL_INTERVAL_MS) })
    .onConflict((conflict) =>
      conflict.columns(["tenant_id", "agent_id", "task_id", "row_id"]).doUpdateSet({ micros, claimed_at: sql<Date>`now()` }),
    )
    .execute();

/** Keeps the claim of a row that is still to come. */
export async function renewCostClaim(db: Database, key: TaskKey, rowId: string): Promise<void> {
  await db
    .updateTable("agent_cost_claims")
    .set({ claimed_at: sql<Date>`now()` })
    .where((eb) => eb.and({ ...ofTask(key), row_id: rowId }))
    .execute();
}

/** The part of a task's cost, in micro-dollars, that no audit row reports yet. */
export const uncountedMicros = (task: Pick<AgentTaskRow, "counted_micros" | "told_micros" | "owed_micros">): number =>
  Number(task.owed_micros) + Math.max(0, Number(task.told_micros) - Number(task.counted_micros));

/** Notes that row `rowId` will report `micros`, the task's unreported cost. Returns false if that cost has changed in the meantime. */
export async function claimOwedCost(db: Database, key: TaskKey, rowId: string, micros: number): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const task = await lockedCost(trx, key);
    if (task === undefined || uncountedMicros(task) !== micros) return false;
    await changeCost(trx, key, {
      counted_micros: Math.max(Number(task.counted_micros), Number(task.told_micros)),
      owed_micros: 0,
      cost_due_at: null,
    });
    await claimCost(trx, key, rowId, micros);
    return true;
  });
}

interface Claim {
  readonly tenant_id: string;
  readonly agent_id: string;
  readonly task_id: string;
  readonly row_id: string;
}

/** Releases the claim of a row that will never report it, so that another row must; not one that was renewed in the meantime. */
async function giveBack(db: Database, claim: Claim, isThere: boolean): Promise<void> {
  await sql`
    WITH returned AS (
      DELETE FROM agent_cost_claims
      WHERE tenant_id = ${claim.tenant_id} AND agent_id = ${claim.agent_id} AND task_id = ${claim.task_id} AND row_id = ${claim.row_id}
        AND (${isThere} OR claimed_at < now() - ${ROW_TIMEOUT_MS} * interval '1 millisecond')
      RETURNING tenant_id, agent_id, task_id, micros)
    UPDATE agent_tasks t SET owed_micros = t.owed_micros + r.micros, cost_due_at = now()
    FROM returned r WHERE t.tenant_id = r.tenant_id AND t.agent_id = r.agent_id AND t.id = r.task_id`.execute(db);
}

/**
 * Checks claims that are due. If the row is stored and reports a cost, the claim is over. If it reports none (it was written for a process
 * that died), or never appeared, the amount is due again. Each claim has a transaction of its own: a call that counts
 * a cost locks the task before its claim, and would deadlock with a transaction that holds claims and waits for their tasks.
 */
export async function settleCostClaims(db: Database, most: number): Promise<void> {
  const { rows } = await sql<Claim & { readonly is_there: boolean; readonly tells: boolean; readonly is_lost: boolean }>`
    WITH due AS MATERIALIZED (
      UPDATE agent_cost_claims SET look_at = ${inMs(POLL_INTERVAL_MS)}
      WHERE (tenant_id, agent_id, task_id, row_id) IN (
        SELECT c.tenant_id, c.agent_id, c.task_id, c.row_id FROM agent_cost_claims c WHERE c.look_at < now()
        ORDER BY c.look_at LIMIT ${most} FOR UPDATE SKIP LOCKED)
      RETURNING *)
    SELECT due.tenant_id, due.agent_id, due.task_id, due.row_id, a.id IS NOT NULL AS is_there, a.llm_estimated_cost_usd IS NOT NULL AS tells,
      due.claimed_at < now() - ${ROW_TIMEOUT_MS} * interval '1 millisecond' AS is_lost
    FROM due LEFT JOIN audit_rows a ON a.tenant_id = due.tenant_id AND a.id = due.row_id`.execute(db);
  for (const { is_there: isThere, tells, is_lost: isLost, ...claim } of rows)
    if (tells)
      await db
        .deleteFrom("agent_cost_claims")
        .where((eb) => eb.and(claim))
        .execute();
    else if (isThere || isLost) await giveBack(db, claim, isThere);
}
