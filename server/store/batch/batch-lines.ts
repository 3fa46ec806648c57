import { type RawBuilder, type Selectable, sql } from "kysely";
import type { Database } from "../database.ts";
import { totalOf } from "../records/paging.ts";
import type { BatchJobError, BatchLineTable } from "../tables/batch.ts";

export type BatchLineRow = Selectable<BatchLineTable>;

export interface NewLine {
  readonly line: number;
  readonly customId: string;
  readonly body: string;
}

/** The job whose lines are read or changed; with another tenant's ID it has none. */
export interface LinesOf {
  readonly id: string;
  readonly tenant_id: string;
}

const linesOf = ({ id, tenant_id: tenantId }: LinesOf) =>
  sql<boolean>`job_id = ${id} AND EXISTS (SELECT FROM batch_jobs j WHERE j.id = ${id} AND j.tenant_id = ${tenantId})`;

export async function addLines(db: Database, { id, tenant_id: tenantId }: LinesOf, lines: readonly NewLine[]): Promise<void> {
  await sql`
    INSERT INTO batch_lines (job_id, line, custom_id, body)
    SELECT j.id, l.* FROM batch_jobs j, unnest(${lines.map(({ line }) => line)}::int[], ${lines.map(({ customId }) => customId)}::text[], ${lines.map(({ body }) => body)}::text[]) AS l WHERE j.id = ${id} AND j.tenant_id = ${tenantId}`.execute(
    db,
  );
}

export interface TakenLine {
  readonly line: number;
  readonly custom_id: string;
  readonly body: string;
  readonly attempt: number;
}

/** Takes the next waiting lines of a job that is still to be run. */
export async function takeLines(db: Database, jobId: string, owner: string, most: number): Promise<readonly TakenLine[]> {
  const { rows } = await sql<TakenLine>`
    WITH job AS (SELECT id FROM batch_jobs WHERE id = ${jobId} AND status = 'in_progress' FOR SHARE),
      next AS (SELECT job_id, line FROM batch_lines WHERE job_id = (SELECT id FROM job) AND state = 0 ORDER BY line LIMIT ${most} FOR UPDATE SKIP LOCKED)
    UPDATE batch_lines l SET state = 1, owner = ${owner}, attempt = l.attempt + 1 FROM next
     WHERE l.job_id = next.job_id AND l.line = next.line RETURNING l.line, l.custom_id, l.body, l.attempt`.execute(db);
  return rows;
}

/** The result of a line. */
export interface LineOutcome {
  readonly jobId: string;
  readonly line: number;
  readonly attempt: number;
  readonly statusCode: number | null;
  readonly requestId: string | null;
  readonly result: string | null;
  /** Null if the line was answered. */
  readonly error: BatchJobError | null;
}

const ADD_TO_JOB = sql`
  UPDATE batch_jobs j SET completed = j.completed + w.completed, failed = j.failed + w.failed,
    status = CASE WHEN j.status = 'in_progress' AND j.completed + j.failed + w.completed + w.failed >= j.total_requests THEN 'finalizing' ELSE j.status END,
    ends_as = CASE WHEN j.status = 'in_progress' AND j.completed + j.failed + w.completed + w.failed >= j.total_requests THEN 'completed' ELSE j.ends_as END,
    error = CASE WHEN j.status = 'in_progress' AND j.completed + j.failed + w.completed + w.failed >= j.total_requests THEN NULL ELSE j.error END,
    finalizing_at = CASE WHEN j.status = 'in_progress' AND j.completed + j.failed + w.completed + w.failed >= j.total_requests THEN now() ELSE j.finalizing_at END
  FROM (SELECT job_id, count(*) FILTER (WHERE state = 2)::int AS completed, count(*) FILTER (WHERE state = 3)::int AS failed FROM written GROUP BY 1 ORDER BY 1) w
  WHERE j.id = w.job_id`;

/** Writes results of lines that this process still holds: a line whose process was given up for dead has its result already. */
export async function writeOutcomes(db: Database, owner: string, outcomes: readonly LineOutcome[]): Promise<void> {
  const column = <T>(of: (outcome: LineOutcome) => T) => outcomes.map(of);
  await sql`
    WITH written AS (
      UPDATE batch_lines l SET state = CASE WHEN o.error_code IS NULL THEN 2 ELSE 3 END, owner = NULL, status_code = o.status_code, request_id = o.request_id, result = o.result, error_code = o.error_code, error_message = o.error_message
      FROM unnest(${column((o) => o.jobId)}::text[], ${column((o) => o.line)}::int[], ${column((o) => o.attempt)}::int[], ${column((o) => o.statusCode)}::smallint[], ${column((o) => o.requestId)}::text[], ${column((o) => o.result)}::text[],
        ${column((o) => o.error?.code ?? null)}::text[], ${column((o) => o.error?.message ?? null)}::text[]) AS o(job_id, line, attempt, status_code, request_id, result, error_code, error_message)
      WHERE l.job_id = o.job_id AND l.line = o.line AND l.state = 1 AND l.owner = ${owner} AND l.attempt = o.attempt
      RETURNING l.job_id, l.line, l.state),
      given AS (DELETE FROM batch_departures d USING written w WHERE d.job_id = w.job_id AND d.line = w.line)
    ${ADD_TO_JOB}`.execute(db);
}

/** Returns a line to the waiting ones. */
export async function returnLine(db: Database, owner: string, jobId: string, line: number): Promise<void> {
  await sql`UPDATE batch_lines SET state = 0, owner = NULL WHERE job_id = ${jobId} AND line = ${line} AND state = 1 AND owner = ${owner}`.execute(
    db,
  );
}

/**
 * Returns lines that this process was assigned but never began, because it did not learn of them. `begun`: the `job line` pairs it did
 * begin.
 */
export async function returnUnbegun(db: Database, owner: string, begun: readonly string[]): Promise<void> {
  await sql`
    UPDATE batch_lines SET state = 0, owner = NULL WHERE state = 1 AND owner = ${owner} AND NOT (job_id || ' ' || line = ANY(${[...begun]}::text[]))`.execute(
    db,
  );
}

export async function keepAlive(db: Database, runner: string, seconds: number): Promise<void> {
  await sql`
    INSERT INTO batch_runners (id, alive_until) VALUES (${runner}, now() + ${seconds} * interval '1 second')
    ON CONFLICT (id) DO UPDATE SET alive_until = excluded.alive_until`.execute(db);
}

/**
 * Releases what earlier runners of this process claimed, so that nobody waits until they are taken for dead. `runners`: the IDs of its
 * current ones; those of the earlier ones have the same first half.
 */
export async function releaseClaims(db: Database, runners: readonly string[]): Promise<void> {
  const own = sql`${[...runners]}::uuid[]`;
  const isEarlier = (id: string) =>
    sql`left(${sql.ref(id)}::text, 18) = ANY(${runners.map((one) => one.slice(0, 18))}::text[]) AND ${sql.ref(id)} <> ALL(${own})`;
  await sql`DELETE FROM batch_runners WHERE ${isEarlier("id")}`.execute(db);
  await sql`UPDATE batch_jobs SET taken_until = NULL WHERE ended_at IS NULL AND ${isEarlier("taken_by")}`.execute(db);
}

/**
 * Handles the lines of dead processes, whose calls may or may not have reached a provider. They are marked interrupted, or queued again if
 * their job asked for that.
 */
export async function endInterrupted(db: Database, runner: string, error: BatchJobError): Promise<void> {
  const dead = sql`l.state = 1 AND l.owner <> ${runner} AND NOT EXISTS (SELECT FROM batch_runners r WHERE r.id = l.owner AND r.alive_until > now())`;
  // A line whose answer was being delivered still has that answer.
  await sql`
    UPDATE batch_lines l SET state = 5, owner = NULL FROM batch_departures d WHERE d.job_id = l.job_id AND d.line = l.line AND ${dead}`.execute(
    db,
  );
  // In a job that its provider runs, a line that has not departed was not on its way to anybody.
  await sql`
    UPDATE batch_lines l SET state = 0, owner = NULL FROM batch_jobs j
     WHERE j.id = l.job_id AND (j.mode = 'provider' OR j.retry_interrupted AND j.status = 'in_progress') AND ${dead}`.execute(db);
  await sql`
    WITH written AS (
      UPDATE batch_lines l SET state = 3, owner = NULL, error_code = ${error.code}, error_message = ${error.message}
      FROM batch_jobs b WHERE b.id = l.job_id AND b.mode <> 'provider' AND NOT (b.retry_interrupted AND b.status = 'in_progress') AND ${dead} RETURNING l.job_id, l.state)
    ${ADD_TO_JOB}`.execute(db);
}

/** The columns of a line without its request body, which its submitter has. */
const WITHOUT_BODY = [
  "job_id",
  "line",
  "custom_id",
  "state",
  "attempt",
  "owner",
  "status_code",
  "request_id",
  "result",
  "error_code",
  "error_message",
] as const;

/** Most bytes of lines held in memory together: a single result may be 64 MiB. */
const MAX_HELD_BYTES = 8 * 1024 * 1024;

/** The last line number, of at most `most` matching lines, up to which `column` fits the memory limit; always at least one line. */
function fitting(column: "body" | "result", which: RawBuilder<boolean>, most: number): RawBuilder<number> {
  const next = sql`SELECT line, octet_length(${sql.ref(column)}) AS bytes FROM batch_lines WHERE ${which} ORDER BY line LIMIT ${most}`;
  return sql<number>`(SELECT line FROM (SELECT line, row_number() OVER (ORDER BY line) AS n, sum(bytes) OVER (ORDER BY line) AS held FROM (${next}) n) sized
    WHERE n = 1 OR coalesce(held, 0) <= ${MAX_HELD_BYTES})`;
}

async function reportedCountsOf(
  db: Database,
  job: LinesOf,
  which: RawBuilder<boolean>,
  most: number,
): Promise<readonly Omit<BatchLineRow, "body">[]> {
  return db
    .selectFrom("batch_lines")
    .where("job_id", "=", job.id)
    .where("line", "in", fitting("result", sql<boolean>`${linesOf(job)} AND ${which}`, most))
    .select(WITHOUT_BODY)
    .orderBy("line")
    .execute();
}

/** Lines of a job after a line number, in input order: as many as fit the memory limit, and at least one. */
export function linesAfter(db: Database, job: LinesOf, after: number, most: number, states: readonly number[]) {
  return reportedCountsOf(db, job, sql<boolean>`line > ${after} AND state = ANY(${[...states]}::smallint[])`, most);
}

/** The first of the numbered lines: as many as fit the memory limit, and at least one. */
export function firstLinesOf(db: Database, job: LinesOf, lines: readonly number[]) {
  return reportedCountsOf(db, job, sql<boolean>`line = ANY(${[...lines]}::int[])`, lines.length);
}

/** Request bodies after a line number, as submitted: as many as fit the memory limit, and at least one. */
export async function bodiesAfter(
  db: Database,
  job: LinesOf,
  after: number,
  most: number,
): Promise<readonly { line: number; body: string }[]> {
  return db
    .selectFrom("batch_lines")
    .select(["line", "body"])
    .where("job_id", "=", job.id)
    .where("line", "in", fitting("body", sql<boolean>`${linesOf(job)} AND line > ${after}`, most))
    .orderBy("line")
    .execute();
}

/** The line numbers of a page, and the total number of lines. */
export async function pageOfLines(
  db: Database,
  job: LinesOf,
  page: { readonly limit: number; readonly offset: number },
  finishedOnly: boolean,
): Promise<{ readonly lines: readonly number[]; readonly total: number }> {
  const which = sql<boolean>`${linesOf(job)} ${finishedOnly ? sql`AND state IN (2, 3)` : sql``}`;
  const total = await totalOf(db.selectFrom("batch_lines").where(which));
  const found = await db
    .selectFrom("batch_lines")
    .where(which)
    .select("line")
    .orderBy("line")
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return { lines: found.map(({ line }) => line), total };
}

/** The current hash of a key: a job outlives a rotation of the key it was submitted with. */
export async function keyHashOf(db: Database, tenantId: string, keyId: string): Promise<string | null> {
  const found = await db
    .selectFrom("api_keys")
    .select("key_hash")
    .where("tenant_id", "=", tenantId)
    .where("id", "=", keyId)
    .executeTakeFirst();
  return found?.key_hash ?? null;
}
