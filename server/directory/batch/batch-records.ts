import type { Clock } from "../../kernel/clock.ts";
import {
  type BatchJobInsert,
  type BatchJobRow,
  changeBatchJob,
  countJobsUnderWay,
  endBatchJob,
  endOpenLines,
  findBatchJob,
  insertBatchJob,
  jobsWithLeftLines,
  listBatchJobs,
  overdueJobs,
  pruneBatchJobs,
  takeEndedJob,
} from "../../store/batch-jobs.ts";
import { type BatchLineRow, finishedLines, insertLines, type NewLine } from "../../store/batch-lines.ts";
import type { Database, Trx } from "../../store/database.ts";
import type { FileOwner } from "../../store/files.ts";
import type { LineProblem } from "../../store/tables/batch.ts";

export type BatchJob = BatchJobRow;
export type NewBatchJob = BatchJobInsert;
export type BatchLine = BatchLineRow;
export type WrongLine = LineProblem;
export type LineToAdd = NewLine;

const ABANDONED_MS = 60_000;
/** Lines written in one statement, and how long their texts may be together. */
const LINES_AT_ONCE = 500;
const TEXT_AT_ONCE = 4 * 1024 * 1024;
const EXPIRED = { code: "batch_expired", message: "The completion window was over before this line was begun." };
const CANCELLED = { code: "batch_cancelled", message: "The job was cancelled before this line was begun." };

/** Thrown to undo a job whose lines are not valid. */
export class WrongLines extends Error {
  readonly problems: readonly WrongLine[];

  constructor(problems: readonly WrongLine[]) {
    super("lines are not valid");
    this.problems = problems;
  }
}

/** Jobs and what their lines came to, as they are kept. */
export class BatchRecords {
  private readonly db: Database;
  private readonly clock: Clock;

  constructor({ db, clock }: { readonly db: Database; readonly clock: Clock }) {
    this.db = db;
    this.clock = clock;
  }

  underWay(tenantId: string): Promise<number> {
    return countJobsUnderWay(this.db, tenantId);
  }

  /** A job with all its lines, or nothing: where `problems` holds any once all are read, `WrongLines` is thrown. */
  add(job: NewBatchJob, lines: AsyncIterable<LineToAdd>, problems: readonly WrongLine[]): Promise<BatchJob> {
    return this.db.transaction().execute(async (trx) => {
      const row = await insertBatchJob(trx, job);
      const total = await insertAll(trx, row, lines);
      if (problems.length > 0) throw new WrongLines(problems);
      if (total === 0) throw new WrongLines([{ line: 1, param: null, code: "empty", message: "A job has at least one line." }]);
      return (await changeBatchJob(trx, row.tenant_id, row.id, { total, open_lines: total })) ?? row;
    });
  }

  /** A job that is over before it began, because of what its file holds. */
  addFailed(job: NewBatchJob, problems: readonly WrongLine[]): Promise<BatchJob> {
    const error = JSON.stringify({ code: "invalid_input_file", message: "Lines of the input file are not valid." });
    const over = { status: "failed", ends_as: "failed", ended_at: this.now(), error, problems: JSON.stringify(problems) };
    return this.db.transaction().execute((trx) => insertBatchJob(trx, { ...job, ...over }));
  }

  find(owner: FileOwner, id: string): Promise<BatchJob | undefined> {
    return findBatchJob(this.db, owner, id);
  }

  list(...asked: Parameters<typeof listBatchJobs> extends [unknown, ...infer Rest] ? Rest : never): ReturnType<typeof listBatchJobs> {
    return listBatchJobs(this.db, ...asked);
  }

  /** Lines that are not begun end; those under way are waited for. */
  async cancel(job: Pick<BatchJob, "id" | "tenant_id">): Promise<void> {
    await this.db.transaction().execute(async (trx) => {
      const changes = { status: "cancelling", ends_as: "cancelled", cancelling_at: this.now(), updated_at: this.now() };
      await changeBatchJob(trx, job.tenant_id, job.id, changes);
      await endOpenLines(trx, job, "cancelled", CANCELLED);
    });
  }

  /** What has ended of a job, in the order of its input. */
  finished(job: Pick<BatchJob, "id" | "tenant_id">, page: Parameters<typeof finishedLines>[2]): Promise<BatchLine[]> {
    return finishedLines(this.db, job, page);
  }

  /** Ends the lines of jobs whose window is over, and those that were put back while their job was ending. */
  async endLines(): Promise<void> {
    for (const job of await overdueJobs(this.db, this.now()))
      await this.db.transaction().execute(async (trx) => {
        const changes = { status: "finalizing", ends_as: "expired", finalizing_at: null, updated_at: this.now() };
        await changeBatchJob(trx, job.tenant_id, job.id, changes);
        await endOpenLines(trx, job, "expired", EXPIRED);
      });
    for (const job of await jobsWithLeftLines(this.db)) {
      const as = job.ends_as === "expired" || job.ends_as === "failed" ? job.ends_as : "cancelled";
      const error = as === "expired" ? EXPIRED : as === "failed" ? (job.error ?? CANCELLED) : CANCELLED;
      await this.db.transaction().execute((trx) => endOpenLines(trx, job, as, error));
    }
  }

  /** A job whose last line has ended, for the caller alone to finish; one that nobody finished for long is given again. */
  takeEnded(): Promise<BatchJob | undefined> {
    return takeEndedJob(this.db, this.now(), ABANDONED_MS);
  }

  /** Undefined where it was ended already. */
  end(job: BatchJob, outputFileId: string | null, errorFileId: string | null): Promise<BatchJob | undefined> {
    return endBatchJob(this.db, job, { output_file_id: outputFileId, error_file_id: errorFileId }, this.now());
  }

  prune(): Promise<void> {
    return pruneBatchJobs(this.db, this.now());
  }

  private now(): Date {
    return new Date(this.clock.now());
  }
}

async function insertAll(trx: Trx, job: BatchJob, lines: AsyncIterable<LineToAdd>): Promise<number> {
  let total = 0;
  let waiting: LineToAdd[] = [];
  let size = 0;
  const write = async () => {
    await insertLines(trx, job, total + 1, waiting);
    total += waiting.length;
    waiting = [];
    size = 0;
  };
  for await (const line of lines) {
    waiting.push(line);
    size += line.body.length;
    if (waiting.length >= LINES_AT_ONCE || size >= TEXT_AT_ONCE) await write();
  }
  if (waiting.length > 0) await write();
  return total;
}
