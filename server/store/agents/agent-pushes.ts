import { type Insertable, type Selectable, sql } from "kysely";
import { ulid } from "../../kernel/ids.ts";
import type { AgentTaskRow } from "./agent-tasks.ts";
import type { Database, Trx } from "../database.ts";
import type { TenantTurns } from "../../kernel/scheduling/tenant-work.ts";
import type { AgentPushConfigTable, AgentPushDeliveryTable } from "../tables/agents.ts";
import { inMs } from "../records/in-ms.ts";

export type PushConfigRow = Selectable<AgentPushConfigTable>;
type TaskKey = Pick<AgentTaskRow, "tenant_id" | "agent_id" | "id">;

/** Most deliveries waiting for one task, so that a talkative agent cannot fill the table. Status updates may take twice as many. */
const MAX_WAITING = 1_000;
/** A larger notification is stored without its content, because many are read at a time and undeliverable ones are kept. */
const MAX_WHOLE_BYTES = 1024 * 1024;
/** Beyond these totals for a task or a tenant, new notifications are stored without their content. */
const MAX_BYTES = { ofTask: 8 * MAX_WHOLE_BYTES, ofTenant: 64 * MAX_WHOLE_BYTES, rowsOfTenant: 10_000 };

/**
 * The body of a notification. `brief` (without content) is sent if there is no room for `whole`, or if guardrails apply when it is sent.
 */
export interface PushBody {
  readonly whole: string;
  readonly brief: string;
}

/** A status of which each subscriber is notified once. */
export interface ReportedStatus {
  readonly digest: string;
  /** Whether this status ends the task. */
  readonly isEnd: boolean;
}

/** Prefix of the stored digest of a status that ended the task. */
const ENDED = "ended ";

const ofTask = ({ tenant_id, agent_id, id }: TaskKey) => ({ tenant_id, agent_id, task_id: id });

/** The configurations of one task, ordered by ID. */
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

/** A watched task; the watcher holds a lease on it. */
export type WatchedTask = AgentTaskRow;

/** SQL condition: the task is under way and nobody has asked for it in a minute. */
export const IS_LEFT_ALONE =
  "state IN ('TASK_STATE_UNSPECIFIED', 'TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING') AND updated_at < now() - interval '1 minute'";

/**
 * Leases unwatched tasks for `leaseMs`, taking turns between tenants, those unwatched longest first. Returns tasks that have subscribers
 * and tasks that are left alone, found through these two sets, which are small compared with all stored tasks. A task in one of the
 * `ended` states is included until its end has been notified.
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
          AND (w.tenant_id, w.agent_id, w.id) IN (
            SELECT tenant_id, agent_id, id FROM agent_tasks WHERE ${sql.raw(IS_LEFT_ALONE)}
            UNION ALL SELECT tenant_id, agent_id, task_id FROM agent_push_configs)
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
 * Queues an event for every subscriber of the task. A `status` is queued once, and none after the one that ended the task; null if the
 * event is not a status.
 */
export async function queuePushNotifications(
  db: Database,
  task: TaskKey,
  status: ReportedStatus | null,
  bodyFor: (config: PushConfigRow) => PushBody,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (status !== null) {
      const digest = (status.isEnd ? ENDED : "") + status.digest;
      const reported = await trx
        .updateTable("agent_tasks")
        .set({ told_digest: digest })
        .where("tenant_id", "=", task.tenant_id)
        .where("agent_id", "=", task.agent_id)
        .where("id", "=", task.id)
        // A process that was slow to notice an earlier status, or the same end in other words, must not notify after the end.
        .where((eb) =>
          eb.or([eb("told_digest", "is", null), eb.and([eb("told_digest", "<>", digest), eb("told_digest", "not like", `${ENDED}%`)])]),
        )
        .returning("id")
        .executeTakeFirst();
      if (reported === undefined) return;
    }
    const configs = await pushConfigs(trx, task);
    if (configs.length === 0) return;
    const { waiting, bytes } = await trx
      .selectFrom("agent_push_deliveries")
      .select((eb) => [eb.fn.countAll<number>().as("waiting"), BYTES.as("bytes")])
      .where((eb) => eb.and(ofTask(task)))
      .executeTakeFirstOrThrow();
    if (Number(waiting) >= (status === null ? MAX_WAITING : 2 * MAX_WAITING)) return;
    let room = Math.min(MAX_BYTES.ofTask - Number(bytes), await roomOfTenant(trx, task.tenant_id));
    const deliveries = configs.map((config) => {
      const { whole, brief } = bodyFor(config);
      const size = Buffer.byteLength(whole);
      const fits = size <= Math.min(room, MAX_WHOLE_BYTES);
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

/** Bytes of notifications that may still be queued for a tenant; 0 if so many are queued that counting them would take long. */
async function roomOfTenant(trx: Trx, tenantId: string): Promise<number> {
  const { waiting, bytes } = await trx
    .selectFrom((eb) =>
      eb.selectFrom("agent_push_deliveries").select("body").where("tenant_id", "=", tenantId).limit(MAX_BYTES.rowsOfTenant).as("counted"),
    )
    .select((eb) => [eb.fn.countAll<number>().as("waiting"), BYTES.as("bytes")])
    .executeTakeFirstOrThrow();
  return Number(waiting) >= MAX_BYTES.rowsOfTenant ? 0 : MAX_BYTES.ofTenant - Number(bytes);
}

export type DueDelivery = Selectable<AgentPushDeliveryTable> &
  Pick<PushConfigRow, "url" | "scheme" | "secrets_sealed" | "protocol_version"> &
  Pick<AgentTaskRow, "owner_kind" | "owner_id" | "resource_group_id">;

/**
 * Leases the oldest due delivery of each subscriber for `leaseMs`, taking turns between tenants so that none waits for another's backlog.
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
