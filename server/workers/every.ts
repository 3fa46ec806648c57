import { loggingFailures, type ToldOfFailures } from "./logged-failures.ts";

export interface Worker {
  /** Ends after the run under way. */
  stop(): Promise<unknown>;
}

/** Runs a job again and again, `ms` after its last run ended. A run that fails is logged and tried again next time. */
export function every(ms: number, name: string, job: () => Promise<unknown>, told: ToldOfFailures): Worker {
  const run = loggingFailures(name, job, told);
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
