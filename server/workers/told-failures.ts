import type { Log } from "../kernel/log.ts";

/** Between two lines about a job that goes on failing: what ails all of them, a database that is away, would fill the log. */
const TOLD_MS = 60_000;

/** A job's run whose failures are logged: the first of a row, from then on once a minute how many there were, and when it works again. */
export function tellingFailures(
  worker: string,
  run: () => Promise<unknown>,
  log: Log,
  now: () => number = () => performance.now(),
): () => Promise<void> {
  let failing: { toldAt: number; failures: number } | null = null;
  return async () => {
    try {
      await run();
      if (failing !== null) log.info("worker_recovered", { worker });
      failing = null;
    } catch (caught) {
      const error = caught as Error;
      if (failing === null) {
        failing = { toldAt: now(), failures: 0 };
        log.warn("worker_failed", { worker, error });
        return;
      }
      failing.failures++;
      if (now() - failing.toldAt < TOLD_MS) return;
      log.warn("worker_failed", { worker, failures: failing.failures, error });
      failing = { toldAt: now(), failures: 0 };
    }
  };
}
