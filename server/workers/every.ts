import { loggingFailures, type FailureReporter } from "./logged-failures.ts";

export interface Worker {
  /** Stops after the current run; resolves when that has ended. */
  stop(): Promise<unknown>;
}

/** Runs a job repeatedly, `ms` milliseconds after its last run ended. A failed run is logged; the next one follows as usual. */
export function every(ms: number, name: string, job: () => Promise<unknown>, failures: FailureReporter): Worker {
  const run = loggingFailures(name, job, failures);
  let stopped = false;
  let running: Promise<unknown> = Promise.resolve();
  let timer: ReturnType<typeof setTimeout>;
  const arm = () => {
    timer = setTimeout(() => {
      running = run().finally(() => {
        if (!stopped) arm();
      });
    }, ms);
    timer.unref();
  };
  arm();
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
      return running;
    },
  };
}
