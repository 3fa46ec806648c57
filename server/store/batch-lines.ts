import { type Selectable, sql } from "kysely";
import type { BatchJobRow } from "./batch-jobs.ts";
import type { Database, Trx } from "./database.ts";
import type { BatchLineTable, JobPause, LineError } from "./tables/batch.ts";

export type BatchLineRow = Selectable<BatchLineTable>;
type JobName = Pick<BatchJobRow, "id" | "tenant_id">;

export interface NewLine {
  readonly customId: string;
  readonly body: string;
}

export async function insertLines(trx: Trx, { id, tenant_id: tenantId }: JobName, from: number, lines: readonly NewLine[]): Promise<void> {
  await sql`
    INSERT INTO batch_lines (job_id, tenant_id, seq, custom_id, body)
    SELECT ${id}, ${tenantId}, ${from} + at::int - 1, custom_id, body
      FROM unnest(${lines.map(({ customId }) => customId)}::text[], ${lines.map(({ body }) => body)}::text[])
           WITH ORDINALITY AS given (custom_id, body, at)`.execute(trx);
}

/** A line somebody carries out, for as long as they hold it. */
export interface ClaimedLine extends Pick<BatchLineRow, "job_id" | "tenant_id" | "seq" | "custom_id" | "body" | "attempt"> {
  readonly owner: string;
}

export interface Claim {
  readonly owner: string;
  readonly until: Date;
}

/** Takes the next lines of a job. */
export async function claimLines(
  trx: Trx,
  { id, tenant_id: tenantId }: JobName,
  { owner, until }: Claim,
  most: number,
): Promise<ClaimedLine[]> {
  const { rows } = await sql<Omit<ClaimedLine, "owner">>`
    WITH next AS MATERIALIZED (
      SELECT seq FROM batch_lines WHERE job_id = ${id} AND tenant_id = ${tenantId} AND state = 'open'
       ORDER BY seq LIMIT ${most} FOR UPDATE SKIP LOCKED
    ) UPDATE batch_lines l SET state = 'running', attempt = attempt + 1, owner = ${owner}, lease_until = ${until}
        FROM next WHERE l.job_id = ${id} AND l.tenant_id = ${tenantId} AND l.seq = next.seq
      RETURNING l.job_id, l.tenant_id, l.seq, l.custom_id, l.body, l.attempt`.execute(trx);
  if (rows.length > 0)
    await trx
      .updateTable("batch_jobs")
      .set((eb) => ({ open_lines: eb("open_lines", "-", rows.length), running_lines: eb("running_lines", "+", rows.length) }))
      .where("tenant_id", "=", tenantId)
      .where("id", "=", id)
      .execute();
  return rows.toSorted((a, b) => a.seq - b.seq).map((line) => ({ ...line, owner }));
}

/** Says that the owner still carries out what it holds. */
export async function renewLeases(db: Database, { owner, until }: Claim): Promise<void> {
  await sql`UPDATE batch_lines SET lease_until = ${until} WHERE state = 'running' AND owner = ${owner}`.execute(db);
}

export interface LineResult {
  readonly outcome: "completed" | "failed" | "cancelled" | "expired";
  readonly requestId: string | null;
  readonly statusCode: number | null;
  readonly response: string | null;
  readonly error: LineError | null;
  readonly costMicros: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
}

const held = ({ job_id, tenant_id, seq, attempt, owner }: Omit<ClaimedLine, "custom_id" | "body">) =>
  sql<boolean>`job_id = ${job_id} AND tenant_id = ${tenant_id} AND seq = ${seq} AND attempt = ${attempt} AND owner = ${owner} AND state = 'running'`;

/** Writes what a line came to, once: false where it is not this owner's any more. */
export async function finishLine(trx: Trx, line: Omit<ClaimedLine, "custom_id" | "body">, result: LineResult): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable("batch_lines")
    .set({
      state: "done",
      owner: null,
      lease_until: null,
      request_id: result.requestId,
      status_code: result.statusCode,
      response: result.response,
      error: result.error === null ? null : JSON.stringify(result.error),
    })
    .where(held(line))
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  await trx
    .updateTable("batch_jobs")
    .set((eb) => ({
      running_lines: eb("running_lines", "-", 1),
      [result.outcome]: eb(result.outcome, "+", 1),
      cost_micros: eb("cost_micros", "+", result.costMicros),
      prompt_tokens: eb("prompt_tokens", "+", result.promptTokens),
      completion_tokens: eb("completion_tokens", "+", result.completionTokens),
      ...(result.outcome === "completed" ? { paused: null, wait_until: null } : {}),
    }))
    .where("tenant_id", "=", line.tenant_id)
    .where("id", "=", line.job_id)
    .execute();
  return true;
}

/** Puts a line back that was not carried out; with `pause` its job waits. False where it is not this owner's any more. */
export async function reopenLine(trx: Trx, line: Omit<ClaimedLine, "custom_id" | "body">, pause: JobPause | null): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable("batch_lines")
    .set({ state: "open", owner: null, lease_until: null })
    .where(held(line))
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  await trx
    .updateTable("batch_jobs")
    .set((eb) => ({
      running_lines: eb("running_lines", "-", 1),
      open_lines: eb("open_lines", "+", 1),
      ...(pause === null ? {} : { paused: JSON.stringify(pause), wait_until: new Date(pause.until) }),
    }))
    .where("tenant_id", "=", line.tenant_id)
    .where("id", "=", line.job_id)
    .execute();
  return true;
}

/** Lines whose owner is gone, which are the caller's own from now on; `owner`'s own of an earlier life among them. */
export async function takeAbandoned(db: Database, claim: Claim, now: Date, ownToo: boolean, most: number): Promise<ClaimedLine[]> {
  const abandoned = ownToo ? sql`(lease_until < ${now} OR owner = ${claim.owner})` : sql`lease_until < ${now}`;
  const { rows } = await sql<Omit<ClaimedLine, "owner">>`
    WITH abandoned AS MATERIALIZED (
      SELECT job_id, seq FROM batch_lines WHERE state = 'running' AND ${abandoned}
       ORDER BY lease_until LIMIT ${most} FOR UPDATE SKIP LOCKED
    ) UPDATE batch_lines l SET owner = ${claim.owner}, lease_until = ${claim.until}, attempt = attempt + 1
        FROM abandoned a WHERE l.job_id = a.job_id AND l.seq = a.seq
      RETURNING l.job_id, l.tenant_id, l.seq, l.custom_id, l.body, l.attempt`.execute(db);
  return rows.map((line) => ({ ...line, owner: claim.owner }));
}

/** What has ended of a job, in the order of its input, from a place on. */
export function finishedLines(
  db: Database,
  { id, tenant_id: tenantId }: JobName,
  page: { readonly after?: number; readonly limit: number; readonly offset?: number; readonly failed?: boolean },
): Promise<BatchLineRow[]> {
  let found = db
    .selectFrom("batch_lines")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("job_id", "=", id)
    .where("state", "=", "done");
  if (page.after !== undefined) found = found.where("seq", ">", page.after);
  if (page.failed !== undefined) found = found.where("error", page.failed ? "is not" : "is", null);
  return found
    .orderBy("seq")
    .limit(page.limit)
    .offset(page.offset ?? 0)
    .execute();
}
