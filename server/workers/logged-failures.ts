import type { Log } from "../kernel/log.ts";
import type { Telemetry } from "../kernel/telemetry/telemetry.ts";

/** Shortest time between two log lines about a job that keeps failing: a database outage makes all jobs fail and would flood the log. */
const LOGGED_EVERY_MS = 60_000;

export interface FailureReporter {
  readonly log: Log;
  readonly metrics: Pick<Telemetry, "workerRan">;
}

/** Wraps a job so that its failures are logged: the first of a series, then a count at most once a minute, and the recovery. */
export function loggingFailures(
  worker: string,
  run: () => Promise<unknown>,
  { log, metrics }: FailureReporter,
  now: () => number = () => performance.now(),
): () => Promise<void> {
  let failing: { loggedAt: number; failures: number } | null = null;
  return async () => {
    try {
      await run();
      metrics.workerRan(worker, true);
      if (failing !== null) log.info("worker_recovered", { worker });
      failing = null;
    } catch (caught) {
      const error = caught as Error;
      metrics.workerRan(worker, false);
      if (failing === null) {
        failing = { loggedAt: now(), failures: 0 };
        log.warn("worker_failed", { worker, error });
        return;
      }
      failing.failures++;
      if (now() - failing.loggedAt < LOGGED_EVERY_MS) return;
      log.warn("worker_failed", { worker, failures: failing.failures, error });
      failing = { loggedAt: now(), failures: 0 };
    }
  };
}
