/** If a sync took longer than this, the next one is not done synchronously. */
const QUICK_MS = 1;

/**
 * Group commit. One sync runs at a time and releases exactly the callers that asked before it started; later callers wait for the next one,
 * which starts when it ends. A sync starts in the next turn of the event loop, so that it covers all callers of this turn.
 */
export interface GroupSync {
  /**
   * Resolves when everything written before the call is on stable storage. Rejects once any sync has failed. `alone`: no other work is
   * pending, so if the disk is quick, the sync blocks the event loop; handing it to another thread takes about twice as long.
   */
  synced(alone?: boolean): Promise<void>;
  /** Number of completed syncs, and their total time in milliseconds. */
  readonly syncs: number;
  readonly totalMs: number;
}

/** `sync` and `syncNow` must cover everything written before they are called. After a failure neither is called again. */
export function groupSync(sync: () => Promise<void>, syncNow: () => void, now: () => number): GroupSync {
  let running = false;
  let due = false;
  let waiting: { promise: Promise<void>; resolve: () => void; reject: (error: unknown) => void } | null = null;
  let failure: { error: unknown } | null = null;
  let syncs = 0;
  let totalMs = 0;
  let lastMs = Number.POSITIVE_INFINITY;

  function ended(started: number): void {
    lastMs = now() - started;
    syncs += 1;
    totalMs += lastMs;
  }

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
        ended(started);
        released.resolve();
        runSoon();
      },
      (error: unknown) => {
        // After a failed sync the kernel may have dropped the data, and it reports the error only once: a retry would succeed without
        // storing anything.
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
    synced(alone = false) {
      if (failure !== null) return Promise.reject(failure.error);
      if (alone && !running && waiting === null && lastMs < QUICK_MS) {
        const started = now();
        try {
          syncNow();
        } catch (error) {
          failure = { error };
          return Promise.reject(error);
        }
        ended(started);
        return Promise.resolve();
      }
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
