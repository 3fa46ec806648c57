import { type Insertable, type Selectable, sql, type Updateable } from "kysely";
import type { Database, Trx } from "./database.ts";
import type { FileOwner } from "./files.ts";
import type { Page, Paged } from "./paging.ts";
import type { BatchJobTable } from "./tables/batch.ts";

export type BatchJobRow = Selectable<BatchJobTable>;
export type BatchJobInsert = Insertable<BatchJobTable>;

/** As with files: a person reaches their own in whatever group they made them, a key those that keys of its group made. */
const owned = (owner: FileOwner) =>
  owner.userId === null
    ? sql<boolean>`tenant_id = ${owner.tenantId} AND resource_group_id = ${owner.groupId} AND end_user_id IS NULL`
    : sql<boolean>`tenant_id = ${owner.tenantId} AND end_user_id = ${owner.userId}`;

export function findBatchJob(db: Database | Trx, owner: FileOwner, id: string): Promise<BatchJobRow | undefined> {
  return db.selectFrom("batch_jobs").selectAll().where("id", "=", id).where(owned(owner)).executeTakeFirst();
}

/** Newest first; with `after` those older than it. */
export async function listBatchJobs(
  db: Database,
  owner: FileOwner,
  filter: { readonly status?: string | undefined },
  page: Page & { readonly after?: string | undefined },
): Promise<Paged<BatchJobRow>> {
  let found = db.selectFrom("batch_jobs").where(owned(owner));
  if (filter.status !== undefined) found = found.where("status", "=", filter.status);
  const { total } = await found.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
  if (page.after !== undefined) found = found.where("id", "<", page.after);
  const items = await found.selectAll().orderBy("id", "desc").limit(page.limit).offset(page.offset).execute();
  return { items, total: Number(total) };
}

export function insertBatchJob(trx: Trx, job: BatchJobInsert): Promise<BatchJobRow> {
  return trx.insertInto("batch_jobs").values(job).returningAll().executeTakeFirstOrThrow();
}

export function changeBatchJob(
  db: Database | Trx,
  tenantId: string,
  id: string,
  changes: Updateable<BatchJobTable>,
): Promise<BatchJobRow | undefined> {
  return db.updateTable("batch_jobs").set(changes).where("tenant_id", "=", tenantId).where("id", "=", id).returningAll().executeTakeFirst();
}

/** Of one person or group, or of the whole tenant: how many are not over. */
export async function countJobsUnderWay(db: Database | Trx, tenantId: string): Promise<number> {
  const { total } = await db
    .selectFrom("batch_jobs")
    .select((eb) => eb.fn.countAll<number>().as("total"))
    .where("tenant_id", "=", tenantId)
    .where("ended_at", "is", null)
    .executeTakeFirstOrThrow();
  return Number(total);
}

/** Whether there is anything to do for anybody. */
export async function anyJobUnderWay(db: Database): Promise<boolean> {
  const found = await db.selectFrom("batch_jobs").select("id").where("ended_at", "is", null).limit(1).executeTakeFirst();
  return found !== undefined;
}

/**
 * The job to be served next, held for this transaction. `shortest`: of the tenant with the least left to do, and of its
 * jobs that with the least; else that of the tenant, and of its jobs, which has waited longest. So a small job is not
 * behind a large one, and a large one is never forgotten.
 */
export async function nextJob(trx: Trx, shortest: boolean, now: Date): Promise<BatchJobRow | undefined> {
  const order = shortest
    ? sql`tenant_left, job_left, last_claimed_at NULLS FIRST`
    : sql`tenant_last NULLS FIRST, last_claimed_at NULLS FIRST`;
  const { rows } = await sql<{ id: string; tenant_id: string }>`
    WITH ready AS (
      SELECT id, tenant_id, last_claimed_at, open_lines + running_lines AS job_left,
             sum(open_lines + running_lines) OVER (PARTITION BY tenant_id) AS tenant_left,
             max(last_claimed_at) OVER (PARTITION BY tenant_id) AS tenant_last
        FROM batch_jobs
       WHERE ended_at IS NULL AND status = 'in_progress' AND open_lines > 0 AND expires_at > ${now}
         AND (wait_until IS NULL OR wait_until <= ${now})
    ) SELECT id, tenant_id FROM ready ORDER BY ${order} LIMIT 1`.execute(trx);
  const [chosen] = rows;
  if (chosen === undefined) return undefined;
  return trx
    .updateTable("batch_jobs")
    .set({ last_claimed_at: sql<Date>`clock_timestamp()` })
    .where("tenant_id", "=", chosen.tenant_id)
    .where("id", "=", chosen.id)
    .where("status", "=", "in_progress")
    .returningAll()
    .executeTakeFirst();
}

/** Jobs whose time is over and which nobody has told so. */
export function overdueJobs(db: Database, now: Date): Promise<Pick<BatchJobRow, "id" | "tenant_id">[]> {
  return db
    .selectFrom("batch_jobs")
    .select(["id", "tenant_id"])
    .where("ended_at", "is", null)
    .where("status", "=", "in_progress")
    .where("expires_at", "<=", now)
    .execute();
}

/** Takes a job whose last line has ended, to be finished by the caller alone; one that nobody finished for long is taken again. */
export async function takeEndedJob(db: Database, now: Date, abandonedMs: number): Promise<BatchJobRow | undefined> {
  const { rows } = await sql<BatchJobRow>`
    WITH over AS MATERIALIZED (
      SELECT id FROM batch_jobs
       WHERE ended_at IS NULL AND open_lines = 0 AND running_lines = 0
         AND (status IN ('in_progress', 'cancelling') OR finalizing_at IS NULL
              OR finalizing_at < ${new Date(now.getTime() - abandonedMs)})
       ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
    ) UPDATE batch_jobs j SET status = 'finalizing', finalizing_at = ${now}, updated_at = ${now}
        FROM over WHERE j.id = over.id RETURNING j.*`.execute(db);
  return rows[0];
}

/** Ends every line that was not begun, and counts it as what the job ends as. */
export async function endOpenLines(
  trx: Trx,
  { id, tenant_id: tenantId }: Pick<BatchJobRow, "id" | "tenant_id">,
  counted: "failed" | "cancelled" | "expired",
  error: { readonly code: string; readonly message: string },
): Promise<void> {
  const { numUpdatedRows } = await trx
    .updateTable("batch_lines")
    .set({ state: "done", error: JSON.stringify(error) })
    .where("tenant_id", "=", tenantId)
    .where("job_id", "=", id)
    .where("state", "=", "open")
    .executeTakeFirst();
  const ended = Number(numUpdatedRows);
  if (ended === 0) return;
  await trx
    .updateTable("batch_jobs")
    .set((eb) => ({ open_lines: eb("open_lines", "-", ended), [counted]: eb(counted, "+", ended) }))
    .where("tenant_id", "=", tenantId)
    .where("id", "=", id)
    .execute();
}

/** Jobs that are ending while lines of theirs are still open. */
export function jobsWithLeftLines(db: Database): Promise<Pick<BatchJobRow, "id" | "tenant_id" | "ends_as" | "error">[]> {
  return db
    .selectFrom("batch_jobs")
    .select(["id", "tenant_id", "ends_as", "error"])
    .where("ended_at", "is", null)
    .where("status", "in", ["cancelling", "finalizing"])
    .where("open_lines", ">", 0)
    .execute();
}

/** Whether a line of the job is tried again that a process died over. */
export async function findRetryChoice(db: Database, line: { readonly job_id: string; readonly tenant_id: string }): Promise<boolean> {
  const job = await db
    .selectFrom("batch_jobs")
    .select("retry_interrupted")
    .where("tenant_id", "=", line.tenant_id)
    .where("id", "=", line.job_id)
    .executeTakeFirst();
  return job?.retry_interrupted === true;
}

/** Undefined where it was ended already. */
export function endBatchJob(
  db: Database,
  job: Pick<BatchJobRow, "id" | "tenant_id" | "ends_as">,
  files: Pick<Updateable<BatchJobTable>, "output_file_id" | "error_file_id">,
  now: Date,
): Promise<BatchJobRow | undefined> {
  return db
    .updateTable("batch_jobs")
    .set({ ...files, status: job.ends_as ?? "completed", paused: null, wait_until: null, ended_at: now, updated_at: now })
    .where("tenant_id", "=", job.tenant_id)
    .where("id", "=", job.id)
    .where("ended_at", "is", null)
    .returningAll()
    .executeTakeFirst();
}

/** Forgets lines when files of their tenant would go, and jobs with the rows of the ledger. */
export async function pruneBatchJobs(db: Database, now: Date): Promise<void> {
  await sql`
    DELETE FROM batch_lines l USING batch_jobs j, tenants t
     WHERE l.job_id = j.id AND l.tenant_id = j.tenant_id AND t.id = j.tenant_id
       AND j.ended_at < ${now}::timestamptz - (t.data_retention->>'file_days')::int * interval '1 day'`.execute(db);
  await sql`
    DELETE FROM batch_jobs j USING tenants t
     WHERE t.id = j.tenant_id AND j.ended_at < ${now}::timestamptz - (t.data_retention->>'log_days')::int * interval '1 day'`.execute(db);
}
