import type { BatchJob, BatchStore, JobToRun, LineToGive } from "../../directory/batch/batch-store.ts";
import type { Log } from "../../kernel/log.ts";
import type { BackgroundAnswer } from "../../road/own-calls/background-calls.ts";
import { oneLine } from "../../wire/batch/one-line.ts";
import { OutcomeWriter } from "./outcome-writer.ts";

const MAX_CONCURRENT = 16;
const TAKE_BATCH = 8;

export interface AnswerDeliveryParts {
  readonly store: BatchStore;
  readonly finishLine: (job: BatchJob, line: LineToGive, recorded: boolean) => Promise<BackgroundAnswer | null>;
  /** `chain`: the audit chain this process writes to. `shipped`: waits until everything in its journal is in the database. */
  readonly chain: string;
  readonly shipped: () => Promise<void>;
  readonly log: Log;
}

/** Delivers results of providers' batches to the lines that wait for them. */
export class AnswerDelivery {
  private readonly parts: AnswerDeliveryParts;
  private readonly owner: string;
  private readonly stopping: AbortSignal;
  private readonly writer: OutcomeWriter;
  private readonly giving = new Set<Promise<void>>();
  /** Lines being delivered, keyed by job ID and line number. */
  private readonly inHand = new Set<string>();
  /** Jobs with an answer that could not be delivered in this round; taking it again at once would loop. */
  private readonly stalled = new Set<string>();
  /** Whether this process may own lines it is not delivering: taking or returning them failed with an unknown outcome. */
  private unsure = false;
  private jobs: readonly JobToRun[] = [];
  private round: Promise<void> | null = null;

  constructor(parts: AnswerDeliveryParts, owner: string, stopping: AbortSignal) {
    this.parts = parts;
    this.owner = owner;
    this.stopping = stopping;
    this.writer = new OutcomeWriter(parts.store, owner, parts.log);
  }

  /** Whether this process owns answered lines. */
  get busy(): boolean {
    return this.round !== null || this.giving.size > 0;
  }

  /** Starts delivering the answers of these jobs; if a round is running, it goes on with these jobs. */
  begin(jobs: readonly JobToRun[]): void {
    this.jobs = jobs;
    this.round ??= this.give()
      .catch((error: Error) => this.parts.log.warn("worker_failed", { worker: "run_provider_batches", error }))
      .finally(() => {
        this.round = null;
      });
  }

  /** Resolves when every delivery that was started is written. */
  async settled(): Promise<void> {
    await this.round;
    await Promise.all(this.giving);
  }

  /** Takes a few lines of each job at a time, so that short jobs do not wait for long ones, nor new jobs for those already open. */
  private async give(): Promise<void> {
    let jobs: readonly JobToRun[] = [];
    let open = jobs;
    for (;;) {
      if (jobs !== this.jobs) {
        jobs = this.jobs;
        open = jobs;
        this.stalled.clear();
        await this.returnUndelivered();
      }
      const left: JobToRun[] = [];
      for (const job of open) {
        while (this.giving.size >= MAX_CONCURRENT) await Promise.race(this.giving);
        if (this.stopping.aborted) return;
        if (!this.stalled.has(job.id) && (await this.takeSome(job))) left.push(job);
      }
      if (left.length === 0 && jobs === this.jobs) return;
      open = left;
    }
  }

  private async returnUndelivered(): Promise<void> {
    if (!this.unsure) return;
    // Cleared before the call: a line may be left without delivery while it runs, and must set the flag again.
    this.unsure = false;
    await this.certainly(() => this.parts.store.returnUndelivered(this.owner, [...this.inHand]));
  }

  private async certainly<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.unsure = true;
      throw error;
    }
  }

  /** Resolves to whether there may be more lines. */
  private takeSome({ id, tenant_id: tenantId }: JobToRun): Promise<boolean> {
    const { store, chain, shipped } = this.parts;
    return this.certainly(async () => {
      const lines = await store.takeAnswered({ id, tenant_id: tenantId }, this.owner, chain, TAKE_BATCH);
      if (lines.length === 0) return false;
      const doubtful = lines.filter(({ chain_before: before }) => before !== null).map(({ call_id: callId }) => callId);
      // After this wait, everything the dead process had in the chain's journal is in the database.
      if (doubtful.length > 0) await shipped();
      const recorded = doubtful.length === 0 ? NONE : await store.recorded(tenantId, doubtful);
      const job = await store.read(id);
      if (job !== undefined) for (const line of lines) this.track(this.giveOne(job, line, recorded.has(line.call_id)));
      return lines.length === TAKE_BATCH;
    });
  }

  private track(given: Promise<void>): void {
    const one: Promise<void> = given.finally(() => this.giving.delete(one));
    this.giving.add(one);
  }

  private async giveOne(job: BatchJob, line: LineToGive, recorded: boolean): Promise<void> {
    const { store, log } = this.parts;
    const key = `${job.id} ${line.line}`;
    this.inHand.add(key);
    const answer = await this.parts.finishLine(job, line, recorded).catch((error: Error) => {
      log.error("batch_line_failed", { error });
      return null;
    });
    if (answer === null || answer.interrupted) {
      this.stalled.add(job.id);
      const isReturned = await store.returnAnswered(this.owner, job.id, line.line).then(
        () => true,
        () => false,
      );
      this.inHand.delete(key);
      if (!isReturned) this.unsure = true;
      return;
    }
    const { errorType, errorMessage, status, body, id } = answer;
    const error = errorType === null ? null : { code: errorType, message: errorMessage ?? "" };
    const result = line.unanswered === null ? (oneLine(body) ?? JSON.stringify(body)) : null;
    const given = { statusCode: result === null ? null : status, requestId: id, result, error };
    await this.writer.write({ jobId: job.id, line: line.line, attempt: line.attempt, ...given });
    this.inHand.delete(key);
  }
}

const NONE: ReadonlySet<string> = new Set();
