import type { Log } from "../kernel/log.ts";

/** Between two lines about a job that goes on failing: a database that is away makes all of them fail, and would fill the log. */
const LOGGED_EVERY_MS = 60_000;

/** A job's run whose failures are logged: the first of a row, from then on once a minute how many there were, and when it works again. */
export function loggingFailures(
  worker: string,
  run: () => Promise<unknown>,
  log: Log,
  now: () => number = () => performance.now(),
): () => Promise<void> {
  let failing: { loggedAt: number; failures: number } | null = null;
  return async () => {
    try {
      await run();
      if (failing !== null) log.info("worker_recovered", { worker });
      failing = null;
    } catch (caught) {
      const error = caught as Error;
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
