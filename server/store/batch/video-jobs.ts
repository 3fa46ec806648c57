import { type Insertable, type Selectable, sql } from "kysely";
import type { Database, Trx } from "../database.ts";
import type { FileOwner } from "../files/files.ts";
import { hasId } from "../records/has-id.ts";
import { type Page, type Paged, totalOf } from "../records/paging.ts";
import type { TenantTurns } from "../records/tenant-turns.ts";
import type { VideoError, VideoJobTable, VideoStatus } from "../tables/videos.ts";

export type VideoJobRow = Selectable<VideoJobTable>;

/** Jobs are owned as files are: a person's are theirs, a key's its group's. */
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

/** Newest first, unless told otherwise; with `after` those behind it. */
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

/** The caller wants to hear of it no more. */
export async function hideVideoJob(db: Database, owner: FileOwner, id: string): Promise<void> {
  await sql`UPDATE video_jobs SET deleted_at = now() WHERE id = ${id} AND ${owned(owner)}`.execute(db);
}

/** One that no provider took on: nothing of it is left. */
export async function dropVideoJob(db: Database, owner: string, id: string): Promise<void> {
  await sql`DELETE FROM video_jobs WHERE id = ${id} AND owner = ${owner} AND upstream_id IS NULL`.execute(db);
}

/** What a look at a job found, written by whoever has it and nobody else. False: another process has it. */
export async function noteVideoLook(
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
 * The provider has it, under this name. A process that was taken for dead meanwhile may still bring it: the job that was
 * given up goes on then, at whoever brings it and holds budgets for it. False where there is no such job any more.
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
  /** JSON; null where nothing was used. */
  readonly usage: string | null;
}

/** Ends a job once: false where it had ended, or another process has it. */
export async function endVideoJob(db: Database | Trx, owner: string, id: string, end: VideoEnd): Promise<boolean> {
  const { rows } = await sql`
    UPDATE video_jobs SET status = ${end.status}, error = ${end.error === null ? null : JSON.stringify(end.error)}::jsonb,
      output_file_id = ${end.outputFileId}, cost_micro_usd = ${end.costMicros}, usage = ${end.usage}::jsonb,
      progress = CASE WHEN ${end.status} = 'succeeded' THEN 100 ELSE progress END, ended_at = now(), updated_at = now(), look_at = now(), failures = 0
     WHERE id = ${id} AND owner = ${owner} AND ended_at IS NULL RETURNING 1`.execute(db);
  return rows.length > 0;
}

/** Ends it because its caller wants it no more; undefined where it had ended, or is no job of theirs. */
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

/** Takes jobs that no living process has. Of those that ever wrote to `chain` no other lives than this one. */
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

/** Those of this process that are not settled. */
export async function ownVideoJobs(db: Database, runner: string): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`SELECT id FROM video_jobs WHERE owner = ${runner} AND settled_at IS NULL`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

/** Jobs of this process that are to be looked at now, of each tenant one after the other. */
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

/** Gives up every job that a process has, so that others need not wait until it is taken for dead. */
export async function leaveVideoJobs(db: Database, runner: string): Promise<void> {
  await sql`UPDATE video_jobs SET owner = NULL WHERE owner = ${runner} AND settled_at IS NULL`.execute(db);
}

export async function keepVideoRunnerAlive(db: Database, runner: string, chain: string, seconds: number): Promise<void> {
  await sql`
    INSERT INTO video_runners (id, chain, alive_until) VALUES (${runner}, ${chain}, now() + ${seconds} * interval '1 second')
    ON CONFLICT (id) DO UPDATE SET alive_until = excluded.alive_until`.execute(db);
}

/** Names the row that is to tell what a job came to. False where one is named already, or another process has the job. */
export async function claimVideoSettlement(db: Database, owner: string, id: string, rowId: string): Promise<boolean> {
  const { rows } = await sql`
    UPDATE video_jobs SET settlement_id = ${rowId}, settling_since = now()
     WHERE id = ${id} AND owner = ${owner} AND settlement_id IS NULL AND settled_at IS NULL RETURNING 1`.execute(db);
  return rows.length > 0;
}

export async function noteVideoSettled(db: Database, owner: string, id: string): Promise<void> {
  await sql`UPDATE video_jobs SET settled_at = now() WHERE id = ${id} AND owner = ${owner}`.execute(db);
}

/** The row that was named tells nothing, and never will: another one has to. */
export async function forgetVideoSettlement(db: Database, owner: string, id: string): Promise<void> {
  await sql`
    UPDATE video_jobs SET settlement_id = NULL, settling_since = NULL, look_at = now() WHERE id = ${id} AND owner = ${owner} AND settled_at IS NULL`.execute(
    db,
  );
}

/** What became of the row that a process was about to write: null while nobody knows. */
export async function fateOfSettlement(db: Database, tenantId: string, rowId: string): Promise<"told" | "interrupted" | null> {
  const { rows } = await sql<{ error_type: string | null }>`
    SELECT error_type FROM audit_rows WHERE tenant_id = ${tenantId} AND id = ${rowId}`.execute(db);
  const [row] = rows;
  return row === undefined ? null : row.error_type === "gateway_interrupted" ? "interrupted" : "told";
}

/** Forgets jobs as long after their end as their tenant keeps files. */
export async function sweepVideoJobs(db: Database): Promise<void> {
  await sql`
    DELETE FROM video_jobs j USING tenants t
     WHERE t.id = j.tenant_id AND j.settled_at IS NOT NULL AND j.ended_at < now() - (t.data_retention->>'file_days')::int * interval '1 day'`.execute(
    db,
  );
  await sql`DELETE FROM video_runners WHERE alive_until < now() - interval '1 day'`.execute(db);
}
