import { totalOf } from "../records/paging.ts";
import { type Insertable, type Selectable, sql } from "kysely";
import type { Database, Trx } from "../database.ts";
import type { AgentTaskTable } from "../tables/agents.ts";

export type AgentTaskRow = Selectable<AgentTaskTable>;
export type AgentTaskInsert = Insertable<AgentTaskTable>;

/** The owner of tasks at one agent. */
export interface TaskScope {
  readonly tenantId: string;
  readonly agentId: string;
  readonly ownerId: string;
}

export const withinTaskScope = ({ tenantId, agentId, ownerId }: TaskScope) => ({
  tenant_id: tenantId,
  agent_id: agentId,
  owner_id: ownerId,
});

export async function ownTask(db: Database, scope: TaskScope, id: string): Promise<AgentTaskRow | undefined> {
  return db
    .selectFrom("agent_tasks")
    .selectAll()
    .where((eb) => eb.and(withinTaskScope(scope)))
    .where("id", "=", id)
    .executeTakeFirst();
}

/** Most states kept for one task. */
const MAX_STATES = 200;

/** The states that come before and after the task's current one, whatever their timestamps say. */
export interface StatesAround {
  readonly earlier: readonly string[];
  readonly later: readonly string[];
}

/**
 * Writes a task as it stands now and records the state it reached.
 * Returns false, and changes nothing, if the task belongs to another owner.
 */
export async function putTask(db: Database | Trx, row: AgentTaskInsert, { earlier, later }: StatesAround): Promise<boolean> {
  const written = await db
    .with("known", (cte) =>
      cte
        .selectFrom("agent_tasks")
        .select("state")
        .where("tenant_id", "=", row.tenant_id)
        .where("agent_id", "=", row.agent_id)
        .where("id", "=", row.id),
    )
    .with("put", (cte) =>
      cte
        .insertInto("agent_tasks")
        .values(row)
        .onConflict((conflict) =>
          conflict
            .columns(["tenant_id", "agent_id", "id"])
            .doUpdateSet((eb) => ({
              state: eb.ref("excluded.state"),
              status_at: eb.ref("excluded.status_at"),
              task: eb.ref("excluded.task"),
              updated_at: eb.ref("excluded.updated_at"),
            }))
            .whereRef("agent_tasks.owner_id", "=", "excluded.owner_id")
            .where(sql<boolean>`agent_tasks.state <> ALL(${later}::text[])`)
            // Of two watchers of the same task one may be behind. A status without a time gets the gateway's clock, which is later than the
            // agent's own time for the next status.
            .where((eb) =>
              eb.or([
                eb("agent_tasks.status_at", "<=", eb.ref("excluded.status_at")),
                sql<boolean>`agent_tasks.state = ANY(${earlier}::text[])`,
              ]),
            ),
        )
        .returning(["tenant_id", "agent_id", "id", "state", "status_at"]),
    )
    .with("reached", (cte) =>
      cte
        .insertInto("agent_task_states")
        .columns(["tenant_id", "agent_id", "task_id", "state", "at"])
        .expression((eb) =>
          eb
            .selectFrom("put")
            .select(["tenant_id", "agent_id", "id as task_id", "state", "status_at as at"])
            .where("state", "not in", eb.selectFrom("known").select("state"))
            .where(
              (inner) =>
                inner
                  .selectFrom("agent_task_states")
                  .select((one) => one.fn.countAll<number>().as("kept"))
                  .where("tenant_id", "=", row.tenant_id)
                  .where("agent_id", "=", row.agent_id)
                  .where("task_id", "=", row.id),
              "<",
              MAX_STATES,
            ),
        )
        .onConflict((conflict) => conflict.doNothing()),
    )
    .selectFrom("put")
    .select("id")
    .executeTakeFirst();
  if (written !== undefined) return true;
  const known = await db
    .selectFrom("agent_tasks")
    .select("owner_id")
    .where("tenant_id", "=", row.tenant_id)
    .where("agent_id", "=", row.agent_id)
    .where("id", "=", row.id)
    .executeTakeFirst();
  return known?.owner_id === row.owner_id;
}

/** Identifies one task of a tenant at an agent. */
export type TaskKey = Pick<AgentTaskRow, "tenant_id" | "agent_id" | "id">;

export interface TaskListing {
  readonly contextId: string | null;
  readonly state: string | null;
  readonly since: Date | null;
  /** The last task of the previous page. */
  readonly after: { readonly at: Date; readonly id: string } | null;
  readonly limit: number;
}

/** Ordered by status time, newest first. `total` counts all pages. */
export async function listOwnTasks(db: Database, scope: TaskScope, listing: TaskListing): Promise<{ rows: AgentTaskRow[]; total: number }> {
  let query = db.selectFrom("agent_tasks").where((eb) => eb.and(withinTaskScope(scope)));
  if (listing.contextId !== null) query = query.where("context_id", "=", listing.contextId);
  if (listing.state !== null) query = query.where("state", "=", listing.state);
  if (listing.since !== null) query = query.where("status_at", ">=", listing.since);
  const total = await totalOf(query);
  const { after } = listing;
  if (after !== null)
    query = query.where((eb) => eb.or([eb("status_at", "<", after.at), eb.and([eb("status_at", "=", after.at), eb("id", ">", after.id)])]));
  const rows = await query.selectAll().orderBy("status_at", "desc").orderBy("id").limit(listing.limit).execute();
  return { rows, total };
}

/** The states a task went through, oldest first. */
export async function statesOfTask(db: Database, tenantId: string, agentId: string, id: string): Promise<{ state: string; at: Date }[]> {
  return db
    .selectFrom("agent_task_states")
    .select(["state", "at"])
    .where("tenant_id", "=", tenantId)
    .where("agent_id", "=", agentId)
    .where("task_id", "=", id)
    .orderBy("seen_at")
    .execute();
}

/** Deletes tasks and contexts that were not used for as many days as their tenant keeps bodies. */
export async function pruneTasks(db: Database): Promise<void> {
  const days = sql<string>`make_interval(days => greatest(1, coalesce((t.data_retention->>'body_days')::int, 30)))`;
  await sql`DELETE FROM agent_tasks k USING tenants t WHERE t.id = k.tenant_id AND t.legal_hold IS NULL AND k.updated_at < now() - ${days}`.execute(
    db,
  );
  await sql`DELETE FROM agent_contexts c USING tenants t WHERE t.id = c.tenant_id AND t.legal_hold IS NULL AND c.used_at < now() - ${days}`.execute(
    db,
  );
}

/** Deletes the tasks and contexts of erased people, with their push configurations. */
export async function eraseTasks(trx: Trx, tenantId: string, ownerIds: readonly string[]): Promise<void> {
  if (ownerIds.length === 0) return;
  await trx.deleteFrom("agent_tasks").where("tenant_id", "=", tenantId).where("owner_id", "in", ownerIds).execute();
  await trx.deleteFrom("agent_contexts").where("tenant_id", "=", tenantId).where("owner_id", "in", ownerIds).execute();
}
