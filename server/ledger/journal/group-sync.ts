/** Longer than this, and the next sync keeps nobody from anything else. */
const QUICK_MS = 1;

/**
 * Groups the waits for stable storage: one sync runs at a time, and a sync releases exactly those who asked before it
 * started. Whoever asks while one runs waits for the next, which starts when that ends; a sync starts in the next turn of
 * the event loop, so that all who ask in this one are covered by it.
 */
export interface GroupSync {
  /**
   * Resolves when everything written before the call is on stable storage. Rejects once a sync has failed. `alone`: nobody
   * else has anything to do meanwhile, so that a disk that is quick is waited for on the spot: to have another thread wait
   * for it takes about as long again.
   */
  synced(alone?: boolean): Promise<void>;
  /** How many syncs ended, and the milliseconds they took together. */
  readonly syncs: number;
  readonly totalMs: number;
}

/**
 * `sync` covers what is written when it is called, and so does `syncNow` by the time it returns. After one has failed neither is called
 * again.
 */
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
