import type { Job } from "../kernel/scheduling/job.ts";
import { isWorkKind, type WorkKind } from "../store/records/waiting-work.ts";
import { every, type Worker } from "./every.ts";
import { loggingFailures, type FailureReporter } from "./logged-failures.ts";

const POLL_INTERVAL_MS = 500;
/**
 * How long a job keeps running after the database last showed work for it: it may have follow-up work that no row shows, and never
 * postpones that for longer.
 */
const GOES_ON_MS = 90_000;

interface Watched {
  readonly everyMs: number;
  readonly run: () => Promise<void>;
  readonly kind: WorkKind;
  dueAt: number;
  goesOnUntil: number;
  running: Promise<unknown> | null;
}

/**
 * Runs jobs repeatedly, `everyMs` after their last run ended, while there is work for them. One query checks for all of them, so an idle
 * gateway asks its database one question instead of a dozen.
 */
export class WorkPoller {
  private readonly watched = new Set<Watched>();
  private polling: Promise<void> | null = null;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private readonly ask: () => Promise<Readonly<Record<WorkKind, boolean>>>;
  private readonly pollLogged: () => Promise<void>;
  /** Receives the failures of all jobs, including those not run by this poller. */
  readonly failures: FailureReporter;

  constructor(ask: () => Promise<Readonly<Record<WorkKind, boolean>>>, failures: FailureReporter) {
    this.ask = ask;
    this.failures = failures;
    this.pollLogged = loggingFailures("poll_for_work", () => this.pollForWork(), failures);
  }

  watch(job: Job, kind: WorkKind): Worker {
    const { name, everyMs } = job;
    const run = loggingFailures(name, job.run, this.failures);
    const one: Watched = { everyMs, run, kind, dueAt: performance.now() + everyMs, goesOnUntil: Number.NEGATIVE_INFINITY, running: null };
    this.watched.add(one);
    this.arm();
    return {
      stop: () => {
        this.watched.delete(one);
        return Promise.all([this.polling, one.running]);
      },
    };
  }

  private arm(): void {
    if (this.timer !== null || this.watched.size === 0) return;
    this.timer = setTimeout(() => {
      this.polling = this.pollLogged().finally(() => {
        this.timer = null;
        this.polling = null;
        this.arm();
      });
    }, POLL_INTERVAL_MS);
    this.timer.unref();
  }

  private async pollForWork(): Promise<void> {
    const now = performance.now();
    const due = [...this.watched].filter(({ running, dueAt }) => running === null && dueAt <= now);
    if (due.length === 0) return;
    const waiting = await this.ask();
    for (const one of due) {
      if (!this.watched.has(one)) continue;
      if (waiting[one.kind]) one.goesOnUntil = now + GOES_ON_MS;
      if (one.goesOnUntil > now) this.run(one);
      else one.dueAt = now + one.everyMs;
    }
  }

  private run(one: Watched): void {
    one.running = one.run().finally(() => {
      one.running = null;
      one.dueAt = performance.now() + one.everyMs;
    });
  }
}

/** Runs jobs until `stop`, which waits for runs in progress. Jobs whose work the database can report run only while it does. */
export function runJobs(jobs: readonly Job[], workPoller: WorkPoller): Worker {
  const workers = jobs.map((job) =>
    isWorkKind(job.name) ? workPoller.watch(job, job.name) : every(job.everyMs, job.name, job.run, workPoller.failures),
  );
  return { stop: () => Promise.all(workers.map((worker) => worker.stop())) };
}
