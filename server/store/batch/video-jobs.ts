import { type Insertable, type Selectable, sql } from "kysely";
import type { Database, Trx } from "../database.ts";
import type { FileOwner } from "../files/files.ts";
import { hasId } from "../records/has-id.ts";
import { type Page, type Paged, totalOf } from "../records/paging.ts";
import type { TenantTurns } from "../../kernel/scheduling/tenant-work.ts";
import type { VideoError, VideoJobTable, VideoStatus } from "../tables/videos.ts";

export type VideoJobRow = Selectable<VideoJobTable>;

/** Jobs are owned as files are: by the person, or by the group of the key. */
const owned = (owner: FileOwner) =>
  owner.userId === null
    ? sql<boolean>`tenant_id = ${owner.tenantId} AND resource_group_id = ${owner.groupId} AND end_user_id IS NULL AND deleted_at IS NULL`
    : sql<boolean>`tenant_id = ${owner.tenantId} AND end_user_id = ${owner.userId} AND deleted_at IS NULL`;

export async function createVideoJob(db: Database, job: Insertable<VideoJobTable>): Promise<void> {
  await db.insertInto("video_jobs").values(job).execute();
}

export async function findVideoJob(db: Database, owner: FileOwner, id: string): Promise<VideoJobRow | undefined> {
  return db.selectFrom("video_jobs").selectAll().where(hasId(id)).where(owned(owner)).executeTakeFirst();
}

/** Newest first by default; with `after`, only jobs that follow it in that order. */
export async function listVideoJobs(
  db: Database,
  owner: FileOwner,
  page: Page & { readonly after?: string | undefined; readonly oldestFirst?: boolean },
): Promise<Paged<VideoJobRow>> {
  const { oldestFirst = false } = page;
  let found = db.selectFrom("video_jobs").where(owned(owner));
  const total = await totalOf(found);
  if (page.after !== undefined) found = found.where("id", oldestFirst ? ">" : "<", page.after);
  const items = await found
    .selectAll()
    .orderBy("id", oldestFirst ? "asc" : "desc")
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return { items, total };
}

export async function countOpenVideoJobs(db: Database, tenantId: string): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    SELECT count(*)::int AS n FROM video_jobs WHERE tenant_id = ${tenantId} AND ended_at IS NULL`.execute(db);
  return rows[0]?.n ?? 0;
}

/** Hides a job that its caller deleted. */
export async function hideVideoJob(db: Database, owner: FileOwner, id: string): Promise<void> {
  await sql`UPDATE video_jobs SET deleted_at = now() WHERE id = ${id} AND ${owned(owner)}`.execute(db);
}

/** Deletes a job that no provider accepted. */
export async function dropVideoJob(db: Database, owner: string, id: string): Promise<void> {
  await sql`DELETE FROM video_jobs WHERE id = ${id} AND owner = ${owner} AND upstream_id IS NULL`.execute(db);
}

/** Writes the result of a poll if this process holds the job. Returns false if another process holds it. */
export async function noteVideoPoll(
  db: Database,
  owner: string,
  id: string,
  found: { readonly status?: VideoStatus; readonly progress?: number; readonly failures: number; readonly afterMs: number },
): Promise<boolean> {
  const { status = null, progress = null, failures, afterMs } = found;
  const { rows } = await sql`
    UPDATE video_jobs SET status = coalesce(${status}::text, status), progress = greatest(progress, coalesce(${progress}::smallint, progress)), failures = ${failures}, looks = looks + 1,
      look_at = now() + ${afterMs} * interval '1 millisecond', updated_at = now()
     WHERE id = ${id} AND owner = ${owner} AND settled_at IS NULL RETURNING 1`.execute(db);
  return rows.length > 0;
}

/**
 * Records the provider's ID of the job. A process that was taken for dead may still report this: a job given up in the meantime resumes,
 * owned by that process, which also holds its budgets. Returns false if there is no such job any more.
 */
export async function noteVideoAccepted(db: Database, owner: string, id: string, upstreamId: string, afterMs: number): Promise<boolean> {
  const { rows } = await sql`
    UPDATE video_jobs SET owner = ${owner}, upstream_id = ${upstreamId}, status = 'queued', error = NULL, ended_at = NULL, settled_at = NULL,
      look_at = now() + ${afterMs} * interval '1 millisecond', updated_at = now()
     WHERE id = ${id} AND upstream_id IS NULL AND (ended_at IS NULL OR error->>'code' = 'submit_unknown') RETURNING 1`.execute(db);
  return rows.length > 0;
}

export interface VideoEnd {
  readonly status: VideoStatus;
  readonly error: VideoError | null;
  readonly outputFileId: string | null;
  readonly costMicros: number | null;
  /** JSON; null if nothing was used. */
  readonly usage: string | null;
}

/** Ends a job exactly once; false if it had ended or another process holds it. */
export async function endVideoJob(db: Database | Trx, owner: string, id: string, end: VideoEnd): Promise<boolean> {
  const { rows } = await sql`
    UPDATE video_jobs SET status = ${end.status}, error = ${end.error === null ? null : JSON.stringify(end.error)}::jsonb,
      output_file_id = ${end.outputFileId}, cost_micro_usd = ${end.costMicros}, usage = ${end.usage}::jsonb,
      progress = CASE WHEN ${end.status} = 'succeeded' THEN 100 ELSE progress END, ended_at = now(), updated_at = now(), look_at = now(), failures = 0
     WHERE id = ${id} AND owner = ${owner} AND ended_at IS NULL RETURNING 1`.execute(db);
  return rows.length > 0;
}

/** Ends a job because its caller cancelled it; undefined if it had ended or is not theirs. */
export async function cancelVideoJob(
  db: Database,
  owner: FileOwner,
  id: string,
  { costMicros, usage }: Pick<VideoEnd, "costMicros" | "usage">,
): Promise<VideoJobRow | undefined> {
  const { rows } = await sql<VideoJobRow>`
    UPDATE video_jobs SET status = 'cancelled', cost_micro_usd = ${costMicros}, usage = ${usage}::jsonb, ended_at = now(), updated_at = now(), look_at = now()
     WHERE id = ${id} AND ${owned(owner)} AND ended_at IS NULL RETURNING *`.execute(db);
  return rows[0];
}

/** Takes over jobs that no live process holds. No process but this one writes to `chain`, so older runners of that chain are dead. */
export async function adoptVideoJobs(db: Database, runner: string, chain: string, most: number): Promise<readonly VideoJobRow[]> {
  const { rows } = await sql<VideoJobRow>`
    WITH free AS MATERIALIZED (
      SELECT j.id FROM video_jobs j WHERE j.settled_at IS NULL
         AND (j.owner IS NULL OR j.owner <> ${runner} AND NOT EXISTS (
           SELECT FROM video_runners r WHERE r.id = j.owner AND r.alive_until > now() AND r.chain IS DISTINCT FROM ${chain}))
       ORDER BY j.look_at LIMIT ${most} FOR UPDATE OF j SKIP LOCKED)
    UPDATE video_jobs j SET owner = ${runner}, look_at = now() FROM free WHERE j.id = free.id RETURNING j.*`.execute(db);
  return rows;
}

/** IDs of this process's jobs that are not settled. */
export async function ownVideoJobs(db: Database, runner: string): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`SELECT id FROM video_jobs WHERE owner = ${runner} AND settled_at IS NULL`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

/** This process's jobs that are due to be polled, taking turns between tenants. */
export async function dueVideoJobs(
  db: Database,
  runner: string,
  { most, mostOfOne, underWay }: TenantTurns,
  but: readonly string[],
): Promise<readonly VideoJobRow[]> {
  const { rows } = await sql<VideoJobRow>`
    SELECT j.* FROM video_jobs j JOIN (
      SELECT w.id, coalesce(busy.n, 0) + row_number() OVER (PARTITION BY w.tenant_id ORDER BY w.look_at) AS turn
        FROM video_jobs w LEFT JOIN unnest(${[...underWay.keys()]}::text[], ${[...underWay.values()]}::bigint[]) AS busy (tenant_id, n) USING (tenant_id)
       WHERE w.owner = ${runner} AND w.settled_at IS NULL AND w.look_at <= now() AND w.id <> ALL(${[...but]}::text[])
    ) waiting USING (id)
     WHERE waiting.turn <= ${mostOfOne} ORDER BY waiting.turn, j.look_at LIMIT ${most}`.execute(db);
  return rows;
}

/** Releases every job of a process, so that others need not wait until it is taken for dead. */
export async function leaveVideoJobs(db: Database, runner: string): Promise<void> {
  await sql`UPDATE video_jobs SET owner = NULL WHERE owner = ${runner} AND settled_at IS NULL`.execute(db);
}

export async function keepVideoRunnerAlive(db: Database, runner: string, chain: string, seconds: number): Promise<void> {
  await sql`
    INSERT INTO video_runners (id, chain, alive_until) VALUES (${runner}, ${chain}, now() + ${seconds} * interval '1 second')
    ON CONFLICT (id) DO UPDATE SET alive_until = excluded.alive_until`.execute(db);
}

/** Records the ID of the row that will report the job's cost. Returns false if one is recorded already or another process holds the job. */
export async function claimVideoSettlement(db: Database, owner: string, id: string, rowId: string): Promise<boolean> {
  const { rows } = await sql`
    UPDATE video_jobs SET settlement_id = ${rowId}, settling_since = now()
     WHERE id = ${id} AND owner = ${owner} AND settlement_id IS NULL AND settled_at IS NULL RETURNING 1`.execute(db);
  return rows.length > 0;
}

export async function noteVideoSettled(db: Database, owner: string, id: string): Promise<void> {
  await sql`UPDATE video_jobs SET settled_at = now() WHERE id = ${id} AND owner = ${owner}`.execute(db);
}

/** Clears the recorded row, which will never report the cost, so that another one must. */
export async function forgetVideoSettlement(db: Database, owner: string, id: string): Promise<void> {
  await sql`
    UPDATE video_jobs SET settlement_id = NULL, settling_since = NULL, look_at = now() WHERE id = ${id} AND owner = ${owner} AND settled_at IS NULL`.execute(
    db,
  );
}

/** The fate of a row that a process was about to write; null while it is unknown. */
export async function settlementOutcome(db: Database, tenantId: string, rowId: string): Promise<"told" | "interrupted" | null> {
  const { rows } = await sql<{ error_type: string | null }>`
    SELECT error_type FROM audit_rows WHERE tenant_id = ${tenantId} AND id = ${rowId}`.execute(db);
  const [row] = rows;
  return row === undefined ? null : row.error_type === "gateway_interrupted" ? "interrupted" : "told";
}

/** Deletes jobs that ended longer ago than their tenant keeps files. */
export async function sweepVideoJobs(db: Database): Promise<void> {
  await sql`
    DELETE FROM video_jobs j USING tenants t
     WHERE t.id = j.tenant_id AND t.legal_hold IS NULL AND j.settled_at IS NOT NULL AND j.ended_at < now() - (t.data_retention->>'file_days')::int * interval '1 day'`.execute(
    db,
  );
  await sql`DELETE FROM video_runners WHERE alive_until < now() - interval '1 day'`.execute(db);
}
