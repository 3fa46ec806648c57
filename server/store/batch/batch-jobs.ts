import { type Insertable, type Selectable, sql } from "kysely";
import { storableValue } from "../../kernel/text/storable.ts";
import { isUnderLegalHold } from "../tenants/legal-holds.ts";
import type { Database } from "../database.ts";
import type { FileOwner } from "../files/files.ts";
import { hasId } from "../records/has-id.ts";
import { type Page, type Paged, totalOf } from "../records/paging.ts";
import type { BatchJobError, BatchJobTable, BatchProblem, BatchStatus } from "../tables/batch.ts";

export type BatchJobRow = Selectable<BatchJobTable>;
export type BatchJobWithCost = BatchJobRow & { readonly cost_micro_usd: number; readonly unpriced: number };

/** Jobs are owned as files are: by the person, or by the group of the key. */
const owned = (owner: FileOwner) =>
  owner.userId === null
    ? sql<boolean>`j.tenant_id = ${owner.tenantId} AND j.resource_group_id = ${owner.groupId} AND j.end_user_id IS NULL`
    : sql<boolean>`j.tenant_id = ${owner.tenantId} AND j.end_user_id = ${owner.userId}`;

const jobsOf = (db: Database) =>
  db
    .selectFrom("batch_jobs as j")
    .leftJoin("batch_costs as c", "c.job_id", "j.id")
    .selectAll("j")
    .select((eb) => [
      eb.fn.coalesce("c.cost_micro_usd", sql<number>`0`).as("cost_micro_usd"),
      eb.fn.coalesce("c.unpriced", sql<number>`0`).as("unpriced"),
    ]);

export async function createBatchJob(db: Database, job: Insertable<BatchJobTable>): Promise<void> {
  await db.insertInto("batch_jobs").values(job).execute();
}

export async function findBatchJob(db: Database, owner: FileOwner, id: string): Promise<BatchJobWithCost | undefined> {
  return jobsOf(db).where(hasId(id, "j.id")).where(owned(owner)).executeTakeFirst();
}

/** For a process that runs the job, so regardless of the owner. */
export async function readBatchJob(db: Database, id: string): Promise<BatchJobWithCost | undefined> {
  return jobsOf(db).where("j.id", "=", id).executeTakeFirst();
}

export interface BatchJobFilter extends Page {
  /** Only jobs older than this one. */
  readonly after?: string | undefined;
  /** Only jobs newer than this one, starting with the oldest of them. */
  readonly before?: string | undefined;
  readonly endpoint?: string;
}

/** Newest first. */
export async function listBatchJobs(
  db: Database,
  owner: FileOwner,
  status: string | undefined,
  page: BatchJobFilter,
): Promise<Paged<BatchJobWithCost>> {
  let found = jobsOf(db).where(owned(owner));
  let counted = db.selectFrom("batch_jobs as j").where(owned(owner));
  if (page.endpoint !== undefined) {
    found = found.where("j.endpoint", "=", page.endpoint);
    counted = counted.where("j.endpoint", "=", page.endpoint);
  }
  if (status !== undefined) {
    found = found.where("j.status", "=", status as BatchStatus);
    counted = counted.where("j.status", "=", status as BatchStatus);
  }
  const total = await totalOf(counted);
  if (page.after !== undefined) found = found.where("j.id", "<", page.after);
  if (page.before !== undefined) found = found.where("j.id", ">", page.before);
  const direction = page.before === undefined ? "desc" : "asc";
  const items = await found.orderBy("j.id", direction).limit(page.limit).offset(page.offset).execute();
  return { items: direction === "asc" ? items.toReversed() : items, total };
}

/** Jobs of all owners in the tenant, newest first. */
export async function batchJobsOfTenant(
  db: Database,
  tenantId: string,
  { status, groupId }: { readonly status: BatchStatus | undefined; readonly groupId: string | undefined },
  page: Page,
): Promise<Paged<BatchJobWithCost>> {
  const which = sql<boolean>`j.tenant_id = ${tenantId} ${status === undefined ? sql`` : sql`AND j.status = ${status}`}
    ${groupId === undefined ? sql`` : sql`AND j.resource_group_id = ${groupId}`}`;
  const total = await totalOf(db.selectFrom("batch_jobs as j").where(which));
  const items = await jobsOf(db).where(which).orderBy("j.id", "desc").limit(page.limit).offset(page.offset).execute();
  return { items, total };
}

export async function batchJobOfTenant(db: Database, tenantId: string, id: string): Promise<BatchJobWithCost | undefined> {
  return jobsOf(db).where("j.id", "=", id).where("j.tenant_id", "=", tenantId).executeTakeFirst();
}

export interface ErrorKind {
  readonly code: string;
  readonly count: number;
}

/** How often each error code occurs among the job's failed lines. */
export async function errorKindsOf(db: Database, { id, tenant_id: tenantId }: BatchJobRow): Promise<readonly ErrorKind[]> {
  const { rows } = await sql<ErrorKind>`
    SELECT coalesce(l.error_code, 'unknown') AS code, count(*)::int AS count FROM batch_lines l JOIN batch_jobs j ON j.id = l.job_id
     WHERE l.job_id = ${id} AND j.tenant_id = ${tenantId} AND l.state = 3 GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 50`.execute(db);
  return rows;
}

export interface ProviderBatchOfJob {
  readonly id: string;
  readonly provider_batch: string | null;
  readonly lines: number;
  readonly state: "waiting" | "running" | "ended";
}

export async function providerBatchesOf(db: Database, { id, tenant_id: tenantId }: BatchJobRow): Promise<readonly ProviderBatchOfJob[]> {
  const { rows } = await sql<ProviderBatchOfJob>`
    SELECT id, provider_batch, lines, CASE state WHEN 'ended' THEN 'ended' WHEN 'running' THEN 'running' ELSE 'waiting' END AS state
      FROM batch_submissions WHERE job_id = ${id} AND tenant_id = ${tenantId} ORDER BY id DESC LIMIT 200`.execute(db);
  return rows;
}

export async function countOpenJobs(db: Database, tenantId: string): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    SELECT count(*)::int AS n FROM batch_jobs WHERE tenant_id = ${tenantId} AND ended_at IS NULL`.execute(db);
  return rows[0]?.n ?? 0;
}

export async function deleteBatchJob(db: Database, tenantId: string, id: string): Promise<void> {
  await db.deleteFrom("batch_jobs").where("tenant_id", "=", tenantId).where("id", "=", id).execute();
}

/** Deletes an ended job and its lines, unless its tenant is under a legal hold. */
export async function deleteEndedBatchJob(db: Database, owner: FileOwner, id: string): Promise<"deleted" | "under_way" | "held"> {
  return db.transaction().execute(async (trx) => {
    if (await isUnderLegalHold(trx, owner.tenantId)) return "held";
    const { rows } = await sql`
      DELETE FROM batch_jobs j WHERE j.id = ${id} AND ${owned(owner)} AND j.ended_at IS NOT NULL RETURNING 1`.execute(trx);
    return rows.length > 0 ? "deleted" : "under_way";
  });
}

/** Starts running a job whose lines were all read and are valid. */
export async function startBatchJob(db: Database, tenantId: string, id: string, total: number, mode: BatchJobRow["mode"]): Promise<void> {
  await sql`
    UPDATE batch_jobs SET status = 'in_progress', in_progress_at = now(), total_requests = ${total}, mode = ${mode}
     WHERE tenant_id = ${tenantId} AND id = ${id} AND status = 'validating'`.execute(db);
}

/** Updates what was read from the job's input besides its lines. */
export async function describeBatchJob(
  db: Database,
  tenantId: string,
  id: string,
  facts: Pick<
    Insertable<BatchJobTable>,
    | "endpoint"
    | "completion_window"
    | "model"
    | "model_id"
    | "description"
    | "metadata"
    | "retry_interrupted"
    | "vendor_headers"
    | "results_expire_seconds"
    | "expires_at"
  >,
): Promise<void> {
  await db.updateTable("batch_jobs").set(facts).where("tenant_id", "=", tenantId).where("id", "=", id).execute();
}

export async function failValidation(db: Database, tenantId: string, id: string, problems: readonly BatchProblem[]): Promise<void> {
  const error: BatchJobError = { code: "invalid_body", message: "The input of the job is not valid: nothing of it was run." };
  await sql`DELETE FROM batch_lines WHERE job_id = ${id} AND EXISTS (SELECT FROM batch_jobs j WHERE j.id = ${id} AND j.tenant_id = ${tenantId})`.execute(
    db,
  );
  await sql`
    UPDATE batch_jobs SET status = 'failed', ended_at = now(), error = ${JSON.stringify(error)}::jsonb, problems = ${JSON.stringify(storableValue(problems))}::jsonb
     WHERE tenant_id = ${tenantId} AND id = ${id} AND status = 'validating'`.execute(db);
}

/** Returns false if the job had ended or was already ending. */
export async function cancelBatchJob(db: Database, owner: FileOwner, id: string): Promise<boolean> {
  const { rows } = await sql`
    UPDATE batch_jobs j SET status = 'cancelling', cancelling_at = now(), ends_as = 'cancelled', paused_until = NULL, error = NULL
     WHERE j.id = ${id} AND ${owned(owner)} AND j.status = 'in_progress' RETURNING 1`.execute(db);
  return rows.length > 0;
}

/** Ends a job with this status once none of its lines are in progress. */
export async function endBatchJobAs(db: Database, id: string, endsAs: BatchStatus, error: BatchJobError | null): Promise<void> {
  await sql`
    UPDATE batch_jobs SET status = 'finalizing', finalizing_at = now(), ends_as = ${endsAs}, error = ${error === null ? null : JSON.stringify(error)}::jsonb
     WHERE id = ${id} AND status = 'in_progress'`.execute(db);
}

/** Pauses a job and records why, and until when. */
export async function pauseBatchJob(db: Database, id: string, until: Date, error: BatchJobError): Promise<void> {
  await sql`
    UPDATE batch_jobs SET paused_until = ${until}, error = ${JSON.stringify(error)}::jsonb WHERE id = ${id} AND status = 'in_progress'`.execute(
    db,
  );
}

/** Records why a job that is not paused makes no progress; null once it does. An error that ended the job early is kept. */
export async function explainBatchJob(db: Database, id: string, error: BatchJobError | null): Promise<void> {
  await sql`
    UPDATE batch_jobs SET error = ${error === null ? null : JSON.stringify(error)}::jsonb
     WHERE id = ${id} AND ended_at IS NULL AND (${error !== null} OR error IS NOT NULL) AND coalesce(ends_as, 'completed') IN ('completed', 'cancelled')
       AND (status <> 'in_progress' OR paused_until IS NULL)`.execute(db);
}

export async function resumeBatchJob(db: Database, id: string): Promise<void> {
  await sql`UPDATE batch_jobs SET paused_until = NULL, error = NULL WHERE id = ${id} AND status = 'in_progress'`.execute(db);
}

export interface ActiveJob {
  readonly id: string;
  readonly tenant_id: string;
  readonly status: BatchStatus;
  readonly mode: BatchJobRow["mode"];
  readonly paused: boolean;
  readonly was_paused: boolean;
}

/** All jobs that have not ended, after starting to end those that have expired. */
export async function activeBatchJobs(db: Database): Promise<readonly ActiveJob[]> {
  const { rows } = await sql<ActiveJob & { readonly late: boolean; readonly torn: boolean }>`
    SELECT id, tenant_id, status, mode, coalesce(paused_until > now(), false) AS paused, paused_until IS NOT NULL AS was_paused,
      status = 'in_progress' AND expires_at <= now() AS late, status = 'validating' AND created_at < now() - interval '2 hours' AS torn
      FROM batch_jobs WHERE ended_at IS NULL ORDER BY id`.execute(db);
  for (const job of rows) {
    if (job.late)
      await endBatchJobAs(db, job.id, "expired", {
        code: "batch_expired",
        message: "The completion window ended before every line was run.",
      });
    if (job.torn)
      await failValidation(db, job.tenant_id, job.id, [
        { code: "gateway_interrupted", message: "The input was never read to its end.", line: null, field: null },
      ]);
  }
  return rows.filter(({ late, torn }) => !late && !torn);
}

/**
 * Takes over writing the job's final row, once none of its lines are held by a process or departed. If another chain may hold that row, the
 * job is left to that chain for `doubtSeconds`.
 */
export async function takeEnding(
  db: Database,
  owner: string,
  chain: string,
  seconds: number,
  doubtSeconds: number,
): Promise<BatchJobWithCost | undefined> {
  const { rows } = await sql<{ id: string }>`
    UPDATE batch_jobs SET taken_by = ${owner}, taken_until = now() + ${seconds} * interval '1 second' WHERE id = (
      SELECT j.id FROM batch_jobs j WHERE j.ended_at IS NULL AND j.status IN ('finalizing', 'cancelling') AND coalesce(j.taken_until < now(), true)
        AND (j.end_chain IS NULL OR j.end_chain = ${chain} OR j.end_begun_at < now() - ${doubtSeconds} * interval '1 second')
        AND NOT EXISTS (SELECT FROM batch_lines l WHERE l.job_id = j.id AND l.state = 1)
        AND NOT EXISTS (SELECT FROM batch_departures d WHERE d.job_id = j.id) ORDER BY j.id LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING id`.execute(db);
  return rows[0] === undefined ? undefined : readBatchJob(db, rows[0].id);
}

/** Renews the lease on these endings, as far as the owner still holds them. */
export async function keepEndings(db: Database, owner: string, ids: readonly string[], seconds: number): Promise<void> {
  await sql`
    UPDATE batch_jobs SET taken_until = now() + ${seconds} * interval '1 second'
     WHERE id = ANY(${[...ids]}::text[]) AND taken_by = ${owner} AND ended_at IS NULL`.execute(db);
}

/** Fixes the ID of the job's final row before the row is written to the chain. `doubtful`: a row with that ID may already be written. */
export async function beginBatchEnd(
  db: Database,
  id: string,
  owner: string,
  row: { readonly id: string; readonly chain: string },
): Promise<{ readonly rowId: string; readonly doubtful: boolean } | undefined> {
  const { rows } = await sql<{ end_row_id: string; doubtful: boolean }>`
    WITH before AS MATERIALIZED (SELECT id, end_row_id FROM batch_jobs WHERE id = ${id} AND taken_by = ${owner} AND ended_at IS NULL FOR UPDATE)
    UPDATE batch_jobs j SET end_row_id = coalesce(b.end_row_id, ${row.id}), end_chain = ${row.chain}, end_begun_at = now() FROM before b WHERE j.id = b.id
    RETURNING j.end_row_id, b.end_row_id IS NOT NULL AS doubtful`.execute(db);
  const [found] = rows;
  return found === undefined ? undefined : { rowId: found.end_row_id, doubtful: found.doubtful };
}

/** What the job's final row says; null if it was erased, undefined if there is no such row. */
export async function reportedBatchEnd(
  db: Database,
  tenantId: string,
  rowId: string,
): Promise<
  { readonly output_file_id: string | null; readonly error_file_id: string | null; readonly not_stored?: string } | null | undefined
> {
  const { rows } = await sql<{ told: Awaited<ReturnType<typeof reportedBatchEnd>> }>`
    SELECT custom_metadata->'batch_end' AS told FROM audit_rows WHERE tenant_id = ${tenantId} AND id = ${rowId}`.execute(db);
  const [found] = rows;
  return found?.told;
}

export async function finishBatchJob(
  db: Database,
  id: string,
  owner: string,
  files: { readonly output: string | null; readonly error: string | null },
  wereStored: boolean,
): Promise<void> {
  await sql`
    UPDATE batch_jobs SET status = coalesce(ends_as, 'failed'), ended_at = now(), output_file_id = ${files.output}, error_file_id = ${files.error}, paused_until = NULL,
      error = CASE WHEN ${wereStored} AND error->>'code' = 'file_storage_full' THEN NULL ELSE error END
     WHERE id = ${id} AND taken_by = ${owner} AND ended_at IS NULL`.execute(db);
}

/** Deletes jobs that ended longer ago than their tenant keeps files, because their lines contain requests and answers. */
export async function sweepBatchJobs(db: Database): Promise<void> {
  await sql`
    DELETE FROM batch_jobs j USING tenants t
     WHERE t.id = j.tenant_id AND t.legal_hold IS NULL AND j.ended_at < now() - (t.data_retention->>'file_days')::int * interval '1 day'`.execute(
    db,
  );
  await sql`DELETE FROM batch_costs c WHERE NOT EXISTS (SELECT FROM batch_jobs j WHERE j.id = c.job_id)
    AND NOT EXISTS (SELECT FROM batch_jobs j WHERE j.ended_at IS NULL AND j.tenant_id = c.tenant_id)`.execute(db);
  await sql`DELETE FROM batch_runners WHERE alive_until < now() - interval '1 day'`.execute(db);
}
