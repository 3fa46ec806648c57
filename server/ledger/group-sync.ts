/**
 * Groups the waits for stable storage: one sync runs at a time, and a sync releases exactly those who asked before it
 * started. Whoever asks while one runs waits for the next, which starts when that ends; a sync starts in the next turn of
 * the event loop, so that all who ask in this one are covered by it.
 */
export interface GroupSync {
  /** Resolves when everything written before the call is on stable storage. Rejects once a sync has failed. */
  synced(): Promise<void>;
  /** How many syncs ended, and the milliseconds they took together. */
  readonly syncs: number;
  readonly totalMs: number;
}

/** `sync` covers what is written when it is called. After it has failed once it is never called again. */
export function groupSync(sync: () => Promise<void>, now: () => number): GroupSync {
  let running = false;
  let due = false;
  let waiting: { promise: Promise<void>; resolve: () => void; reject: (error: unknown) => void } | null = null;
  let failure: { error: unknown } | null = null;
  let syncs = 0;
  let totalMs = 0;

  function run(): void {
    due = false;
    const released = waiting;
    if (released === null) return;
    waiting = null;
    running = true;
    const started = now();
    sync().then(
      () => {
        running = false;
        syncs += 1;
        totalMs += now() - started;
        released.resolve();
        runSoon();
      },
      (error: unknown) => {
        // What a failed sync lost is unknown, and the kernel reports it once: a second try would succeed and mean nothing.
        failure = { error };
        released.reject(error);
        waiting?.reject(error);
        waiting = null;
      },
    );
  }

  function runSoon(): void {
    if (running || due || waiting === null) return;
    due = true;
    setImmediate(run);
  }

  return {
    synced() {
      if (failure !== null) return Promise.reject(failure.error);
      waiting ??= Promise.withResolvers<void>();
      const { promise } = waiting;
      runSoon();
      return promise;
    },
    get syncs() {
      return syncs;
    },
    get totalMs() {
      return totalMs;
    },
  };
}
