import type { BatchJob, BatchStore, JobToRun, LineToRun } from "../../directory/batch/batch-store.ts";
import type { Log } from "../../kernel/log.ts";
import { type OnRoster, Roster } from "../../kernel/collections/roster.ts";
import type { BackgroundAnswer, SuspendedLine } from "../../road/own-calls/background-calls.ts";
import { INTERRUPTED, isOfOneModel, type LineVerdict, verdictOn } from "./line-verdict.ts";
import { OutcomeWriter } from "./outcome-writer.ts";
import { runnerId } from "./runner-id.ts";
import { StartPace } from "./start-pace.ts";
import { FairTurns } from "./fair-turns.ts";

/** Most lines under way in this process, and most taken at a time. */
const AT_ONCE = 64;
const TAKE_BATCH = 4;
/** A process whose last heartbeat is older than this is considered dead. */
const ALIVE_SECONDS = 15;
/** Lease on writing a job's results. It is renewed while they are written; if the writer fails, another process takes over after it. */
const ENDING_SECONDS = 120;
const RENEWAL_INTERVAL_MS = 3_000;
const POLL_INTERVAL_MS = 40;
const MAX_BYTES = 64 * 1024 * 1024;

const UNRECORDED: LineVerdict = {
  kind: "again",
  afterMs: 5_000,
  why: { code: "audit_unavailable", message: "The gateway cannot record calls just now." },
};

const UNKNOWN: LineVerdict = { kind: "done", result: { statusCode: null, requestId: null, result: null, error: INTERRUPTED } };

/** A line whose call was started. */
interface BegunLine extends OnRoster {
  readonly jobId: string;
  readonly line: number;
  readonly ended: Promise<void>;
}

export interface RunnerParts {
  readonly store: BatchStore;
  /** Makes the call of one line; null if it could not be recorded. */
  readonly runLine: (job: BatchJob, line: LineToRun) => Promise<BackgroundAnswer | SuspendedLine | null>;
  /** Writes the results and the end of a job none of whose lines is under way. */
  readonly end: (job: BatchJob, runner: string) => Promise<void>;
  /** The audit chain this process writes to. */
  readonly chain: string;
  /** The owner ID under which this process hands lines over to provider batches. */
  readonly leftFrom: string;
  readonly lastWaitedFor: () => number;
  readonly log: Log;
}

/** Runs lines of batch jobs in this process; any number of processes may do so at once. */
export class BatchRunner {
  readonly id: string;
  private readonly parts: RunnerParts;
  private readonly turns = new FairTurns(() => performance.now());
  private readonly pace: StartPace;
  private readonly writer: OutcomeWriter;
  private active: readonly JobToRun[] = [];
  private readonly known = new Map<string, BatchJob>();
  private readonly underWay = new Map<string, number>();
  private readonly empty = new Set<string>();
  private readonly lines = new Roster<BegunLine>();
  /** Jobs whose results this process is writing. */
  private readonly ending = new Set<string>();
  /** Whether this process may own lines it does not know of, because taking them failed with an unknown outcome. */
  private unsure = false;
  private bytes = 0;
  private renewedAt = Number.NEGATIVE_INFINITY;
  private stopped = false;
  private filling = false;
  private timer: ReturnType<typeof setTimeout> | null = null;

  constructor(parts: RunnerParts) {
    this.parts = parts;
    this.id = runnerId(parts.chain);
    this.pace = new StartPace(() => performance.now(), parts.lastWaitedFor);
    this.writer = new OutcomeWriter(parts.store, this.id, parts.log);
  }

  /** Looks for work; called at an interval. */
  async poll(): Promise<void> {
    if (this.stopped) return;
    const { store } = this.parts;
    // First, because other processes consider this one dead after it was cut off from the database for long.
    await this.stayAlive();
    this.active = await store.active();
    this.empty.clear();
    this.turns.prune();
    const ids = new Set(this.active.map(({ id }) => id));
    for (const id of this.known.keys()) if (!ids.has(id)) this.known.delete(id);
    if (this.active.length === 0) return;
    await store.endInterrupted(this.id, INTERRUPTED);
    for (;;) {
      const job = await store.takeEnding(this.id, this.parts.chain, ENDING_SECONDS);
      if (job === undefined) break;
      await this.end(job);
    }
    void this.fill();
  }

  private async end(job: BatchJob): Promise<void> {
    this.ending.add(job.id);
    try {
      await this.parts.end(job, this.id);
    } catch (error) {
      this.parts.log.warn("batch_not_ended", { error: error as Error });
    } finally {
      this.ending.delete(job.id);
    }
  }

  /** Renews the leases on lines and results; needed also while results are written and while the process stops. */
  async stayAlive(): Promise<void> {
    if (this.lines.size > 0) await this.renew();
    if (this.ending.size > 0) await this.parts.store.keepEndings(this.id, [...this.ending], ENDING_SECONDS);
  }

  /** Looks for work at once, because a job was submitted or cancelled. */
  wake(): void {
    void this.poll().catch((error: Error) => this.parts.log.warn("worker_failed", { worker: "run_batches", error }));
  }

  /** Starts no more lines. */
  stop(): void {
    this.stopped = true;
    if (this.timer !== null) clearTimeout(this.timer);
  }

  /** Resolves when every line that was started is written. */
  async settled(): Promise<void> {
    this.stop();
    await Promise.all(this.lines.all().map(({ ended }) => ended));
  }

  private async fill(): Promise<void> {
    if (this.filling || this.stopped) return;
    this.filling = true;
    try {
      // Needed even when no more lines may be taken: a cancelled or paused job would wait for these lines forever.
      if (this.unsure) {
        await this.parts.store.returnUnbegun(
          this.id,
          this.lines.all().map(({ jobId, line }) => `${jobId} ${line}`),
        );
        this.unsure = false;
      }
      while (!this.stopped && this.lines.size < AT_ONCE && this.bytes < MAX_BYTES) {
        const job = this.turns.next(this.runnable());
        if (job === null) break;
        const most = this.pace.take(job.was_paused ? 1 : TAKE_BATCH);
        if (most === 0) break;
        const begun = await this.begin(job, most);
        this.pace.giveBack(most - begun);
        if (begun < most || job.was_paused) this.empty.add(job.id);
      }
    } catch (error) {
      this.parts.log.warn("worker_failed", { worker: "run_batches", error: error as Error });
    } finally {
      this.filling = false;
    }
    if (this.timer === null && !this.stopped && this.runnable().length > 0)
      this.timer = setTimeout(() => {
        this.timer = null;
        void this.fill();
      }, POLL_INTERVAL_MS);
  }

  /**
   * A single tenant gets half of all places, so that another one finds some free. Among several, the least recently served gets that half,
   * and the others share a few places: their running lines compete for the same processors.
   */
  private runnable(): readonly JobToRun[] {
    const open = this.active.filter(({ id, status, paused }) => status === "in_progress" && !paused && !this.empty.has(id));
    const tenants = new Set(open.map(({ tenant_id: tenantId }) => tenantId));
    const half = AT_ONCE / 2;
    const others = Math.max(2, Math.floor(AT_ONCE / 8 / Math.max(1, tenants.size - 1)));
    const least = this.turns.leastServed(tenants);
    return open.filter(({ tenant_id: tenantId }) => (this.underWay.get(tenantId) ?? 0) < (tenantId === least ? half : others));
  }

  private async begin(job: JobToRun, most: number): Promise<number> {
    const { store } = this.parts;
    await this.renew();
    const record = this.known.get(job.id) ?? (await store.read(job.id));
    if (record === undefined) return 0;
    this.known.set(job.id, record);
    const taken = await this.take(job.id, most);
    this.turns.began(job, taken.length);
    for (const line of taken) {
      const run = this.run(job, record, line).catch((error: Error) => this.parts.log.error("batch_line_failed", { error }));
      const ended: Promise<void> = run.finally(() => {
        this.lines.delete(begun);
        this.bytes -= line.body.length;
        this.underWay.set(job.tenant_id, (this.underWay.get(job.tenant_id) ?? 1) - 1);
      });
      const begun: BegunLine = { place: -1, jobId: job.id, line: line.line, ended };
      this.lines.add(begun);
      this.bytes += line.body.length;
      this.underWay.set(job.tenant_id, (this.underWay.get(job.tenant_id) ?? 0) + 1);
    }
    return taken.length;
  }

  private async take(jobId: string, most: number): Promise<readonly LineToRun[]> {
    const { store } = this.parts;
    try {
      return await store.takeLines(jobId, this.id, most);
    } catch (error) {
      this.unsure = true;
      throw error;
    }
  }

  private async run(job: JobToRun, record: BatchJob, line: LineToRun): Promise<void> {
    const { store, runLine } = this.parts;
    const answer = await runLine(record, line).catch((error: Error) => {
      this.parts.log.error("batch_line_failed", { error });
      return "unknown" as const;
    });
    if (typeof answer === "object" && answer !== null && "departure" in answer) return this.depart(job, line, answer);
    const verdict =
      answer === null
        ? UNRECORDED
        : answer === "unknown"
          ? UNKNOWN
          : verdictOn(answer, line.attempt, isOfOneModel(record), record.retry_interrupted || job.mode === "provider");
    if (verdict.kind === "done") {
      await this.writer.write({ jobId: job.id, line: line.line, attempt: line.attempt, ...verdict.result });
      if (job.was_paused && verdict.result.error === null) await store.resume(job.id);
      // Probably the job's last line, so its end does not wait for the next look.
      if (this.empty.has(job.id) && this.lines.all().filter(({ jobId }) => jobId === job.id).length <= 1) this.wake();
      return;
    }
    this.forget(job.id);
    await this.surely(async () => {
      await store.returnLine(this.id, job.id, line.line);
      if (verdict.kind === "end") await store.endAs(job.id, "failed", verdict.why);
      else if (verdict.afterMs > 0) await store.pause(job.id, new Date(Date.now() + verdict.afterMs), verdict.why);
    });
  }

  /** Hands a line over to the provider's batch; it continues when the batch returns its answer. */
  private async depart(job: JobToRun, { line }: LineToRun, { departure, id, row, asked }: SuspendedLine): Promise<void> {
    const { store, leftFrom } = this.parts;
    const { modelId, operation, body: sent } = departure;
    await this.surely(() =>
      store.depart(this.id, job.tenant_id, job.id, line, {
        callId: id,
        leftFrom,
        modelId,
        operation,
        auditRow: JSON.stringify(row),
        asked,
        sent,
      }),
    );
    if (job.was_paused) await store.resume(job.id);
  }

  /** Retries until it succeeds: a line that nobody runs and nobody returns would never end. */
  private async surely(write: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await write();
      } catch (error) {
        this.parts.log.warn("batch_results_not_written", { error: error as Error });
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    }
  }

  /** Starts no more lines of the job until the next look. */
  private forget(jobId: string): void {
    this.empty.add(jobId);
  }

  private async renew(): Promise<void> {
    const now = performance.now();
    if (now - this.renewedAt < RENEWAL_INTERVAL_MS) return;
    await this.parts.store.keepAlive(this.id, ALIVE_SECONDS);
    this.renewedAt = now;
  }
}
