import type { Clock } from "../../kernel/clock.ts";
import { apiKeyHash } from "../../store/api-keys.ts";
import { anyJobUnderWay, type BatchJobRow, changeBatchJob, endOpenLines, findRetryChoice, nextJob } from "../../store/batch-jobs.ts";
import {
  type ClaimedLine,
  claimLines,
  finishLine,
  type LineResult,
  renewLeases,
  reopenLine,
  takeAbandoned,
} from "../../store/batch-lines.ts";
import type { Database } from "../../store/database.ts";
import type { JobPause, LineError } from "../../store/tables/batch.ts";

const LEASE_MS = 30_000;
const ABANDONED_AT_ONCE = 100;
/** Every so many claims go to the job that has waited longest, all others to the shortest. */
const ROUND = 4;

export type QueuedJob = BatchJobRow;
export type QueuedLine = ClaimedLine;
export type LineOutcome = LineResult;
export type PausedJob = JobPause;
export type FailedLine = LineError;

/** What is to be carried out next, and in whose name. */
export interface LineClaim {
  readonly job: QueuedJob;
  readonly lines: readonly QueuedLine[];
  /** Hash of the key's value as it is now; empty where the key is gone, null where a person made the job. */
  readonly keyHash: string | null;
}

export interface QueueParts {
  readonly db: Database;
  readonly clock: Clock;
  /** What holds the lines this process carries out; the same after a restart. */
  readonly owner: string;
}

/** The lines of all jobs, held by one process at a time each. */
export class LineQueue {
  private readonly parts: QueueParts;
  private claims = 0;

  constructor(parts: QueueParts) {
    this.parts = parts;
  }

  get isIdle(): Promise<boolean> {
    return anyJobUnderWay(this.parts.db).then((any) => !any);
  }

  /** Null where there is nothing to do. */
  claim(most: number): Promise<LineClaim | null> {
    const shortest = this.claims++ % ROUND !== ROUND - 1;
    return this.parts.db.transaction().execute(async (trx) => {
      const job = await nextJob(trx, shortest, this.now());
      if (job === undefined) return null;
      // A job that waited tries one line before all others.
      const lines = await claimLines(trx, job, this.lease(), job.paused === null ? most : 1);
      const keyHash = job.api_key_id === null ? null : ((await apiKeyHash(trx, job.tenant_id, job.api_key_id)) ?? "");
      return { job, lines, keyHash };
    });
  }

  /** Says that this process still carries out what it holds. */
  renew(): Promise<void> {
    return renewLeases(this.parts.db, this.lease());
  }

  /** Puts a line back that was not carried out; with `pause` its job waits. */
  async again(line: QueuedLine, pause: PausedJob | null): Promise<void> {
    await this.parts.db.transaction().execute((trx) => reopenLine(trx, line, pause));
  }

  /** Writes what a line came to, if it is still this process's. */
  async finish(line: QueuedLine, outcome: LineOutcome): Promise<void> {
    await this.parts.db.transaction().execute((trx) => finishLine(trx, line, outcome));
  }

  /** Nothing of the job can be carried out any more: the lines that are not begun end for the same reason. */
  async endJob({ id, tenant_id }: Pick<QueuedJob, "id" | "tenant_id">, error: FailedLine): Promise<void> {
    await this.parts.db.transaction().execute(async (trx) => {
      await changeBatchJob(trx, tenant_id, id, {
        status: "finalizing",
        ends_as: "failed",
        error: JSON.stringify(error),
        finalizing_at: null,
        updated_at: this.now(),
      });
      await endOpenLines(trx, { id, tenant_id }, "failed", error);
    });
  }

  /** Takes lines whose process is gone: they are put back where their job wants that, else `interrupted`. How many there were. */
  async takeAbandoned(ownToo: boolean, interrupted: LineOutcome): Promise<number> {
    const { db } = this.parts;
    const lines = await takeAbandoned(db, this.lease(), this.now(), ownToo, ABANDONED_AT_ONCE);
    for (const line of lines) await ((await findRetryChoice(db, line)) ? this.again(line, null) : this.finish(line, interrupted));
    return lines.length;
  }

  private lease() {
    return { owner: this.parts.owner, until: new Date(this.parts.clock.now() + LEASE_MS) };
  }

  private now(): Date {
    return new Date(this.parts.clock.now());
  }
}
