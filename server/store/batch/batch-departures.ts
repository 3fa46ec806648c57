import { type Selectable, sql } from "kysely";
import type { Database } from "../database.ts";
import type { BatchStatus, BatchSubmissionTable } from "../tables/batch.ts";

/** Lines that are sent in a provider's batch; what is submitted together is a submission. */

export interface NewDeparture {
  readonly callId: string;
  /** The process, as it is registered among the live runners. */
  readonly leftFrom: string;
  readonly modelId: string;
  readonly operation: string;
  /** JSON. */
  readonly auditRow: string;
  readonly asked: string;
  readonly sent: string;
}

/** Marks a line that this process carried as departed. */
export async function departLine(
  db: Database,
  owner: string,
  tenantId: string,
  jobId: string,
  line: number,
  { callId, leftFrom, modelId, operation, auditRow, asked, sent }: NewDeparture,
): Promise<void> {
  await sql`
    WITH gone AS (UPDATE batch_lines SET state = 4, owner = NULL WHERE job_id = ${jobId} AND line = ${line} AND state = 1 AND owner = ${owner} RETURNING job_id, line)
    INSERT INTO batch_departures (job_id, line, tenant_id, left_from, call_id, model_id, operation, audit_row, asked, sent, bytes)
    SELECT job_id, line, ${tenantId}, ${leftFrom}, ${callId}, ${modelId}, ${operation}, ${auditRow}, ${asked}, ${sent}, ${Buffer.byteLength(sent)} FROM gone`.execute(
    db,
  );
}

export interface ToBundle {
  readonly job_id: string;
  readonly tenant_id: string;
  readonly model_id: string;
  readonly operation: string;
  readonly lines: number;
  readonly bytes: number;
  /** Whether more lines are about to depart, so that it is worth waiting. */
  readonly more: boolean;
}

/** Departed lines that are in no batch yet, grouped, of jobs that are still to be run. */
export async function linesToBundle(db: Database): Promise<readonly ToBundle[]> {
  const { rows } = await sql<ToBundle>`
    SELECT d.job_id, d.tenant_id, d.model_id, d.operation, count(*)::int AS lines, sum(d.bytes)::float8 AS bytes,
      coalesce(j.paused_until <= now(), true) AND (EXISTS (SELECT FROM batch_lines l WHERE l.job_id = d.job_id AND l.state = 0)
        OR EXISTS (SELECT FROM batch_lines l WHERE l.job_id = d.job_id AND l.state = 1 AND NOT EXISTS (SELECT FROM batch_departures o WHERE o.job_id = l.job_id AND o.line = l.line))) AS more
      FROM batch_departures d JOIN batch_jobs j ON j.id = d.job_id AND j.tenant_id = d.tenant_id
     WHERE d.submission_id IS NULL AND d.unanswered IS NULL AND j.status = 'in_progress' GROUP BY d.job_id, d.tenant_id, d.model_id, d.operation, j.paused_until`.execute(
    db,
  );
  return rows;
}

/** Puts the next lines into a batch to be submitted. Concurrent processes never bundle the same lines. */
export async function bundleLines(
  db: Database,
  id: string,
  { job_id, tenant_id, model_id, operation }: ToBundle,
  most: { readonly lines: number; readonly bytes: number },
): Promise<void> {
  await sql`
    WITH sized AS MATERIALIZED (SELECT line, sum(bytes) OVER (ORDER BY line) AS total, row_number() OVER (ORDER BY line) AS n FROM batch_departures
         WHERE job_id = ${job_id} AND tenant_id = ${tenant_id} AND model_id = ${model_id} AND operation = ${operation} AND submission_id IS NULL AND unanswered IS NULL),
      marked AS (UPDATE batch_departures d SET submission_id = ${id} FROM sized s
         WHERE d.job_id = ${job_id} AND d.line = s.line AND d.submission_id IS NULL AND s.n <= ${most.lines} AND (s.total <= ${most.bytes} OR s.n = 1) RETURNING d.line)
    INSERT INTO batch_submissions (id, job_id, tenant_id, model_id, operation, lines)
    SELECT ${id}, ${job_id}, ${tenant_id}, ${model_id}, ${operation}, count(*) FROM marked HAVING count(*) > 0`.execute(db);
}

/** Gives up departed lines that were never submitted, of jobs that are not to be run any more. */
export async function withdrawLines(db: Database): Promise<void> {
  await sql`
    WITH withdrawn AS (UPDATE batch_departures d SET unanswered = CASE WHEN j.ends_as IN ('failed', 'expired') THEN coalesce(j.error->>'code', 'batch_cancelled') ELSE 'batch_cancelled' END, sent = NULL FROM batch_jobs j
       WHERE j.id = d.job_id AND j.ended_at IS NULL AND j.status IN ('cancelling', 'finalizing') AND d.submission_id IS NULL AND d.unanswered IS NULL
      RETURNING d.job_id, d.line)
    UPDATE batch_lines l SET state = 5 FROM withdrawn w WHERE l.job_id = w.job_id AND l.line = w.line AND l.state = 4`.execute(db);
}

export type TakenSubmission = Selectable<BatchSubmissionTable> & {
  readonly job_status: BatchStatus;
  readonly job_ends_as: BatchStatus | null;
  /** The code of the error that ended the job early. */
  readonly job_error: string | null;
  readonly job_headers: Readonly<Record<string, string>> | null;
};

/** Leases the next batch that is due, is held by no live process and belongs to none of the `busy` tenants. */
export async function takeSubmission(
  db: Database,
  owner: string,
  seconds: number,
  busy: readonly string[],
): Promise<TakenSubmission | undefined> {
  const { rows } = await sql<TakenSubmission>`
    WITH next AS MATERIALIZED (SELECT id FROM batch_submissions s WHERE state <> 'ended' AND s.tenant_id <> ALL(${[...busy]}::text[])
        AND (look_at <= now() OR state = 'ready' AND EXISTS (SELECT FROM batch_jobs o WHERE o.id = s.job_id AND o.status <> 'in_progress')) AND (taken_until IS NULL OR taken_until < now()
        OR NOT EXISTS (SELECT FROM batch_runners r WHERE r.id = s.taken_by AND r.alive_until > now())) ORDER BY look_at LIMIT 1 FOR UPDATE SKIP LOCKED)
    UPDATE batch_submissions s SET taken_by = ${owner}, taken_until = now() + ${seconds} * interval '1 second', looks = s.looks + 1
      FROM next, batch_jobs j WHERE s.id = next.id AND j.id = s.job_id
    RETURNING s.*, j.status AS job_status, j.ends_as AS job_ends_as, CASE WHEN j.ends_as IN ('failed', 'expired') THEN j.error->>'code' END AS job_error, j.vendor_headers AS job_headers`.execute(
    db,
  );
  return rows[0];
}

type SubmissionChange = Partial<
  Pick<Selectable<BatchSubmissionTable>, "state" | "provider_batch" | "cancelled" | "attempts" | "sending_since">
>;

/** Returns false if another process holds the batch by now. With `afterMs` it is released, to be polled again after that time. */
export async function noteSubmission(
  db: Database,
  owner: string,
  id: string,
  change: SubmissionChange,
  afterMs: number | null,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("batch_submissions")
    .set(afterMs === null ? change : { ...change, taken_until: null, look_at: sql<Date>`now() + ${afterMs} * interval '1 millisecond'` })
    .where("id", "=", id)
    .where("taken_by", "=", owner)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function linesToSend(
  db: Database,
  { id, tenant_id }: Pick<TakenSubmission, "id" | "tenant_id">,
): Promise<readonly { line: number; sent: string }[]> {
  const { rows } = await sql<{ line: number; sent: string }>`
    SELECT line, sent FROM batch_departures WHERE submission_id = ${id} AND tenant_id = ${tenant_id} AND sent IS NOT NULL ORDER BY line`.execute(
    db,
  );
  return rows;
}

/** Deletes the sent bodies once the provider has the batch. */
export async function forgetSent(db: Database, { id, tenant_id }: Pick<TakenSubmission, "id" | "tenant_id">): Promise<void> {
  await sql`UPDATE batch_departures SET sent = NULL WHERE submission_id = ${id} AND tenant_id = ${tenant_id} AND sent IS NOT NULL`.execute(
    db,
  );
}

/** The provider's IDs of this tenant's batches. */
export async function knownBatches(db: Database, tenantId: string): Promise<readonly string[]> {
  const { rows } = await sql<{ provider_batch: string }>`
    SELECT provider_batch FROM batch_submissions WHERE tenant_id = ${tenantId} AND provider_batch IS NOT NULL`.execute(db);
  return rows.map(({ provider_batch: known }) => known);
}

export interface AnswerOfLine {
  readonly line: number;
  readonly status: number | null;
  readonly answer: string | null;
  /** Null if the line was answered. */
  readonly unanswered: string | null;
}

/** Writes the answers of lines; the first answer of a line wins. */
export async function writeAnswers(
  db: Database,
  { id, tenant_id, job_id }: Pick<TakenSubmission, "id" | "tenant_id" | "job_id">,
  answers: readonly AnswerOfLine[],
): Promise<void> {
  const column = <T>(of: (answer: AnswerOfLine) => T) => answers.map(of);
  await sql`
    WITH told AS (UPDATE batch_departures d SET status = a.status, answer = a.answer, unanswered = a.unanswered, sent = NULL
        FROM unnest(${column((a) => a.line)}::int[], ${column((a) => a.status)}::smallint[], ${column((a) => a.answer)}::text[], ${column((a) => a.unanswered)}::text[])
          AS a(line, status, answer, unanswered)
       WHERE d.job_id = ${job_id} AND d.tenant_id = ${tenant_id} AND d.submission_id = ${id} AND d.line = a.line AND d.status IS NULL AND d.unanswered IS NULL RETURNING d.line)
    UPDATE batch_lines l SET state = 5 FROM told t WHERE l.job_id = ${job_id} AND l.line = t.line AND l.state = 4`.execute(db);
}

/** Closes a batch for which nothing more will come back. Lines without an answer get this reason instead. */
export async function closeSubmission(
  db: Database,
  { id, tenant_id, job_id }: Pick<TakenSubmission, "id" | "tenant_id" | "job_id">,
  unanswered: string,
): Promise<void> {
  await sql`
    WITH told AS (UPDATE batch_departures d SET unanswered = ${unanswered}, sent = NULL
       WHERE d.job_id = ${job_id} AND d.tenant_id = ${tenant_id} AND d.submission_id = ${id} AND d.status IS NULL AND d.unanswered IS NULL RETURNING d.line),
      lines AS (UPDATE batch_lines l SET state = 5 FROM told t WHERE l.job_id = ${job_id} AND l.line = t.line AND l.state = 4)
    UPDATE batch_submissions SET state = 'ended', taken_until = NULL WHERE id = ${id}`.execute(db);
}

export interface LineToGive {
  readonly line: number;
  readonly custom_id: string;
  readonly attempt: number;
  readonly call_id: string;
  readonly model_id: string;
  readonly operation: string;
  readonly audit_row: string;
  readonly asked: string;
  readonly status: number | null;
  readonly answer: string | null;
  readonly unanswered: string | null;
  readonly provider_batch: string | null;
  /** The chain to which a process was about to write the line's row earlier; null if none was. */
  readonly chain_before: string | null;
}

/** IDs of the calls that departed from this process. */
export async function callsAway(db: Database, owner: string): Promise<readonly string[]> {
  const { rows } = await sql<{ call_id: string }>`SELECT call_id FROM batch_departures WHERE left_from = ${owner}`.execute(db);
  return rows.map(({ call_id: id }) => id);
}

/**
 * Takes lines whose answers have arrived and that departed from this process or from dead ones. If another chain may hold the line's row,
 * the line is left to that chain for `seconds`.
 */
export async function takeAnswered(
  db: Database,
  job: { readonly id: string; readonly tenant_id: string },
  owner: string,
  chain: string,
  most: number,
  seconds: number,
): Promise<readonly LineToGive[]> {
  const { rows } = await sql<LineToGive>`
    WITH next AS MATERIALIZED (SELECT l.job_id, l.line, d.chain AS chain_before FROM batch_lines l JOIN batch_departures d ON d.job_id = l.job_id AND d.line = l.line
         WHERE l.job_id = ${job.id} AND d.tenant_id = ${job.tenant_id} AND l.state = 5
           AND (d.left_from = ${owner} OR NOT EXISTS (SELECT FROM batch_runners r WHERE r.id = d.left_from AND r.alive_until > now()))
           AND (d.chain IS NULL OR d.chain = ${chain} OR d.given_at < now() - ${seconds} * interval '1 second')
         ORDER BY l.line LIMIT ${most} FOR UPDATE OF l SKIP LOCKED),
      noted AS (UPDATE batch_departures d SET chain = ${chain}, given_at = now() FROM next n WHERE d.job_id = n.job_id AND d.line = n.line),
      taken AS (UPDATE batch_lines l SET state = 1, owner = ${owner}, attempt = l.attempt + 1 FROM next n WHERE l.job_id = n.job_id AND l.line = n.line
        RETURNING l.job_id, l.line, l.custom_id, l.attempt, n.chain_before)
    SELECT t.line, t.custom_id, t.attempt, t.chain_before, d.call_id, d.model_id, d.operation, d.audit_row, d.asked, d.status, d.answer, d.unanswered, s.provider_batch
      FROM taken t JOIN batch_departures d ON d.job_id = t.job_id AND d.line = t.line LEFT JOIN batch_submissions s ON s.id = d.submission_id`.execute(
    db,
  );
  return rows;
}

/** Returns a line to those whose answers have arrived. */
export async function returnAnswered(db: Database, owner: string, jobId: string, line: number): Promise<void> {
  await sql`UPDATE batch_lines SET state = 5, owner = NULL WHERE job_id = ${jobId} AND line = ${line} AND state = 1 AND owner = ${owner}`.execute(
    db,
  );
}

/** Returns lines that this process took but is not delivering. `inHand`: the `job line` pairs being delivered. */
export async function returnUndelivered(db: Database, owner: string, inHand: readonly string[]): Promise<void> {
  await sql`
    UPDATE batch_lines SET state = 5, owner = NULL WHERE state = 1 AND owner = ${owner} AND NOT (job_id || ' ' || line = ANY(${[...inHand]}::text[]))`.execute(
    db,
  );
}
