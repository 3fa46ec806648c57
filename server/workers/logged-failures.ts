import type { Log } from "../kernel/log.ts";
import type { Telemetry } from "../kernel/telemetry/telemetry.ts";

/** Between two lines about a job that goes on failing: a database that is away makes all of them fail, and would fill the log. */
const LOGGED_EVERY_MS = 60_000;

export interface ToldOfFailures {
  readonly log: Log;
  readonly metrics: Pick<Telemetry, "workerRan">;
}

/** A job's run whose failures are logged: the first of a row, from then on once a minute how many there were, and when it works again. */
export function loggingFailures(
  worker: string,
  run: () => Promise<unknown>,
  { log, metrics }: ToldOfFailures,
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
