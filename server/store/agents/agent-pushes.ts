import { type Insertable, type Selectable, sql } from "kysely";
import { ulid } from "../../kernel/ids.ts";
import type { AgentTaskRow } from "./agent-tasks.ts";
import type { Database, Trx } from "../database.ts";
import type { TenantTurns } from "../records/tenant-turns.ts";
import type { AgentPushConfigTable, AgentPushDeliveryTable } from "../tables/agents.ts";

export type PushConfigRow = Selectable<AgentPushConfigTable>;
type TaskKey = Pick<AgentTaskRow, "tenant_id" | "agent_id" | "id">;

/**
 * Deliveries that wait of one task: what an agent tells without end does not fill the table; of a status there is room for twice as many.
 */
const MOST_WAITING = 1_000;
/** A larger notification says what happened without what was said: many are read at a time, and kept as long as nobody takes them. */
const LARGEST_WHOLE = 1024 * 1024;
/** Beyond what waits of one task, or of a tenant, what comes says only what happened. */
const MOST_BYTES = { ofTask: 8 * LARGEST_WHOLE, ofTenant: 64 * LARGEST_WHOLE, rowsOfTenant: 10_000 };

/** What somebody is told: `brief` where `whole` has no room, or guardrails look by the time it is sent. */
export interface PushBody {
  readonly whole: string;
  readonly brief: string;
}

/** A status that is told of once. */
export interface ToldStatus {
  readonly digest: string;
  /** Whether the task has ended with it. */
  readonly isEnd: boolean;
}

/** What is kept of a status that a task ended with begins so. */
const ENDED = "ended ";

const ofTask = ({ tenant_id, agent_id, id }: TaskKey) => ({ tenant_id, agent_id, task_id: id });

/** Those of one task, in the order of their ids. */
export async function pushConfigs(db: Database | Trx, task: TaskKey): Promise<PushConfigRow[]> {
  return db
    .selectFrom("agent_push_configs")
    .selectAll()
    .where((eb) => eb.and(ofTask(task)))
    .orderBy("id")
    .execute();
}

export async function putPushConfig(db: Database | Trx, config: Insertable<AgentPushConfigTable>): Promise<void> {
  await db
    .insertInto("agent_push_configs")
    .values(config)
    .onConflict((conflict) =>
      conflict
        .columns(["tenant_id", "agent_id", "task_id", "id"])
        .doUpdateSet((eb) => ({
          url: eb.ref("excluded.url"),
          scheme: eb.ref("excluded.scheme"),
          secrets_sealed: eb.ref("excluded.secrets_sealed"),
          protocol_version: eb.ref("excluded.protocol_version"),
        })),
    )
    .execute();
}

export async function removePushConfig(db: Database, task: TaskKey, id: string): Promise<void> {
  await db
    .deleteFrom("agent_push_configs")
    .where((eb) => eb.and(ofTask(task)))
    .where("id", "=", id)
    .execute();
}

/** A task that is watched, with a lease on it. */
export type WatchedTask = AgentTaskRow;

/** In SQL: whether a task is under way that nobody has asked for in a minute. */
export const IS_LEFT_ALONE =
  "state IN ('TASK_STATE_UNSPECIFIED', 'TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING') AND updated_at < now() - interval '1 minute'";

/** By the database's clock, which all processes have in common. */
const inMs = (ms: number) => sql<Date>`now() + ${ms} * interval '1 millisecond'`;

/**
 * Takes the watch over tasks that nobody watches, for `leaseMs`: of each tenant one after the other, those that were never watched, or
 * the longest ago, first. Those that somebody is to be told of, and those that are left alone. One in a state of `ended` is among them as long as its end was not told.
 */
export async function takeWatches(
  db: Database,
  leaseMs: number,
  { most, mostOfOne, underWay }: TenantTurns,
  ended: readonly string[],
): Promise<WatchedTask[]> {
  const { rows } = await sql<WatchedTask>`
    UPDATE agent_tasks t SET watched_until = ${inMs(leaseMs)}
    WHERE (t.tenant_id, t.agent_id, t.id) IN (
      SELECT k.tenant_id, k.agent_id, k.id FROM agent_tasks k
      JOIN (
        SELECT w.tenant_id, w.agent_id, w.id,
          coalesce(busy.n, 0) + row_number() OVER (PARTITION BY w.tenant_id ORDER BY w.watched_until NULLS FIRST) AS turn
        FROM agent_tasks w LEFT JOIN unnest(${[...underWay.keys()]}::text[], ${[...underWay.values()]}::bigint[]) AS busy (tenant_id, n) USING (tenant_id)
        WHERE (w.watched_until IS NULL OR w.watched_until < now())
          AND (w.state <> ALL(${ended}) OR w.told_digest IS NULL OR w.told_digest NOT LIKE ${`${ENDED}%`})
          AND (${sql.raw(IS_LEFT_ALONE)} OR EXISTS (
            SELECT FROM agent_push_configs p WHERE p.tenant_id = w.tenant_id AND p.agent_id = w.agent_id AND p.task_id = w.id))
      ) waiting USING (tenant_id, agent_id, id)
      WHERE (k.watched_until IS NULL OR k.watched_until < now()) AND waiting.turn <= ${mostOfOne}
      ORDER BY waiting.turn, k.watched_until NULLS FIRST LIMIT ${most} FOR UPDATE OF k SKIP LOCKED)
    RETURNING t.*`.execute(db);
  return rows;
}

export async function keepWatch(db: Database, task: TaskKey, leaseMs: number): Promise<void> {
  await db
    .updateTable("agent_tasks")
    .set({ watched_until: inMs(leaseMs) })
    .where("tenant_id", "=", task.tenant_id)
    .where("agent_id", "=", task.agent_id)
    .where("id", "=", task.id)
    .execute();
}

/**
 * Puts an event before everybody who is to be told of the task. `status`: which it tells of, once, and no other after the one that the
 * task ended with; null for what is no status.
 */
export async function tellPushConfigs(
  db: Database,
  task: TaskKey,
  status: ToldStatus | null,
  bodyFor: (config: PushConfigRow) => PushBody,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (status !== null) {
      const digest = (status.isEnd ? ENDED : "") + status.digest;
      const told = await trx
        .updateTable("agent_tasks")
        .set({ told_digest: digest })
        .where("tenant_id", "=", task.tenant_id)
        .where("agent_id", "=", task.agent_id)
        .where("id", "=", task.id)
        // Whoever was slow to tell of an earlier status, or of the end in other words, tells nothing of a task whose end was told.
        .where((eb) =>
          eb.or([eb("told_digest", "is", null), eb.and([eb("told_digest", "<>", digest), eb("told_digest", "not like", `${ENDED}%`)])]),
        )
        .returning("id")
        .executeTakeFirst();
      if (told === undefined) return;
    }
    const configs = await pushConfigs(trx, task);
    if (configs.length === 0) return;
    const { waiting, bytes } = await trx
      .selectFrom("agent_push_deliveries")
      .select((eb) => [eb.fn.countAll<number>().as("waiting"), BYTES.as("bytes")])
      .where((eb) => eb.and(ofTask(task)))
      .executeTakeFirstOrThrow();
    if (Number(waiting) >= (status === null ? MOST_WAITING : 2 * MOST_WAITING)) return;
    let room = Math.min(MOST_BYTES.ofTask - Number(bytes), await roomOfTenant(trx, task.tenant_id));
    const deliveries = configs.map((config) => {
      const { whole, brief } = bodyFor(config);
      const size = Buffer.byteLength(whole);
      const fits = size <= Math.min(room, LARGEST_WHOLE);
      if (fits) room -= size;
      return {
        ...ofTask(task),
        id: ulid(),
        config_id: config.id,
        body: fits ? whole : brief,
        brief: fits && whole !== brief ? brief : null,
      };
    });
    await trx.insertInto("agent_push_deliveries").values(deliveries).execute();
  });
}

const BYTES = sql<number>`coalesce(sum(octet_length(body)), 0)`;

/** How many bytes of a tenant's may still wait; none once so many notifications wait that counting them would take long. */
async function roomOfTenant(trx: Trx, tenantId: string): Promise<number> {
  const { waiting, bytes } = await trx
    .selectFrom((eb) =>
      eb.selectFrom("agent_push_deliveries").select("body").where("tenant_id", "=", tenantId).limit(MOST_BYTES.rowsOfTenant).as("counted"),
    )
    .select((eb) => [eb.fn.countAll<number>().as("waiting"), BYTES.as("bytes")])
    .executeTakeFirstOrThrow();
  return Number(waiting) >= MOST_BYTES.rowsOfTenant ? 0 : MOST_BYTES.ofTenant - Number(bytes);
}

export type DueDelivery = Selectable<AgentPushDeliveryTable> &
  Pick<PushConfigRow, "url" | "scheme" | "secrets_sealed" | "protocol_version"> &
  Pick<AgentTaskRow, "owner_kind" | "owner_id" | "resource_group_id">;

/**
 * Takes the oldest delivery of each who is told, where it is due; nobody else takes it for `leaseMs`. Of each tenant one after
 * the other, so that none waits because another has many.
 */
export async function takeDeliveries(db: Database, leaseMs: number, { most, mostOfOne, underWay }: TenantTurns): Promise<DueDelivery[]> {
  const { rows } = await sql<DueDelivery>`
    WITH RECURSIVE told AS (
      SELECT min(tenant_id) AS tenant_id FROM agent_push_deliveries
      UNION ALL
      SELECT (SELECT min(d.tenant_id) FROM agent_push_deliveries d WHERE d.tenant_id > told.tenant_id) FROM told WHERE told.tenant_id IS NOT NULL
    ), heads AS (
      SELECT head.id, coalesce(busy.n, 0) + row_number() OVER (PARTITION BY told.tenant_id ORDER BY head.due_at) AS turn, head.due_at
      FROM told
      LEFT JOIN unnest(${[...underWay.keys()]}::text[], ${[...underWay.values()]}::bigint[]) AS busy (tenant_id, n) USING (tenant_id)
      CROSS JOIN LATERAL (
        SELECT d.id, d.due_at FROM agent_push_deliveries d
        WHERE d.tenant_id = told.tenant_id AND d.due_at <= now() AND NOT EXISTS (
          SELECT FROM agent_push_deliveries e
          WHERE e.tenant_id = d.tenant_id AND e.agent_id = d.agent_id AND e.task_id = d.task_id AND e.config_id = d.config_id AND e.id < d.id)
        ORDER BY d.due_at LIMIT greatest(0, ${mostOfOne}::bigint - coalesce(busy.n, 0))
      ) head
    ), due AS (
      SELECT d.id FROM agent_push_deliveries d JOIN heads ON heads.id = d.id
      WHERE d.due_at <= now() ORDER BY heads.turn, heads.due_at LIMIT ${most} FOR UPDATE OF d SKIP LOCKED
    ), taken AS (
      UPDATE agent_push_deliveries d SET due_at = ${inMs(leaseMs)}, attempts = d.attempts + 1 FROM due WHERE d.id = due.id RETURNING d.*
    )
    SELECT t.*, c.url, c.scheme, c.secrets_sealed, c.protocol_version, k.owner_kind, k.owner_id, k.resource_group_id FROM taken t
    JOIN agent_tasks k ON k.tenant_id = t.tenant_id AND k.agent_id = t.agent_id AND k.id = t.task_id
    JOIN agent_push_configs c ON c.tenant_id = t.tenant_id AND c.agent_id = t.agent_id AND c.task_id = t.task_id AND c.id = t.config_id`.execute(
    db,
  );
  return rows;
}

export async function endDelivery(db: Database, id: string): Promise<void> {
  await db.deleteFrom("agent_push_deliveries").where("id", "=", id).execute();
}

export async function postponeDelivery(db: Database, id: string, waitMs: number): Promise<void> {
  await db
    .updateTable("agent_push_deliveries")
    .set({ due_at: inMs(waitMs) })
    .where("id", "=", id)
    .execute();
}
