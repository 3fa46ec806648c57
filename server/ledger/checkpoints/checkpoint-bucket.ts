import type { Log } from "../../kernel/log.ts";
import type { ObjectBucket } from "../../store/files/bucket.ts";
import type { Database } from "../../store/database.ts";
import type { SignedCheckpoint } from "../journal/journal-contents.ts";
import { checkpointBody } from "./checkpoint-contents.ts";
import { checkpointKey, checkpointPlace } from "./checkpoint-key.ts";
import { missingCheckpoints, signedChains, storedCheckpoints } from "./stored-checkpoints.ts";

/** Copies checkpoints to a bucket, each as an object that is written once. */
export interface CheckpointBucket {
  /** Queues checkpoints and returns at once. Failed writes are retried for as long as it takes; nothing else waits for them. */
  keep(checkpoints: readonly SignedCheckpoint[]): void;
  /** Whether writes are failing, or the bucket holds a different checkpoint in the place of one. */
  failing(): boolean;
  /** Waits up to `ms` for the queue. The next start finds what is left. */
  close(ms: number): Promise<void>;
}

const MAX_WAITING = 10_000;
const WINDOW = 500;
const BACKOFF_MS = { first: 500, last: 60_000 };
/** How often to look for checkpoints that were never queued, left by a process that died. */
const CHECK_INTERVAL_MS = 3_600_000;

/**
 * First copies what the database has and the bucket lacks, left by an earlier or crashed process. `backoffMs` is the first delay after a
 * failure; it doubles up to a minute.
 */
export function checkpointBucket(bucket: ObjectBucket, db: Database, log: Log, backoffMs: number = BACKOFF_MS.first): CheckpointBucket {
  const waiting: SignedCheckpoint[] = [];
  let behind = true;
  let closing = false;
  let wake: (() => void) | null = null;
  let failing = false;
  let contradicted = false;
  const running = run();

  function sleep(ms: number): Promise<"time" | "woken"> {
    return new Promise((resolve) => {
      const end = (why: "time" | "woken"): void => {
        clearTimeout(timer);
        wake = null;
        resolve(why);
      };
      const timer = setTimeout(end, ms, "time");
      timer.unref();
      wake = () => end("woken");
    });
  }

  async function run(): Promise<void> {
    for (let backoff = backoffMs; ;) {
      try {
        if (behind) {
          behind = false;
          await catchUp().catch((error: unknown) => {
            behind = true;
            throw error;
          });
        }
        for (let next = waiting[0]; next !== undefined && !behind; next = waiting[0]) {
          await put(next);
          if (waiting[0] === next) waiting.shift();
        }
        if (failing) log.info("audit_checkpoint_bucket_recovered", { bucket: bucket.address });
        failing = false;
        backoff = backoffMs;
        if (closing) return;
        if (waiting.length === 0 && !behind) behind = (await sleep(CHECK_INTERVAL_MS)) === "time" || behind;
      } catch (error) {
        if (!failing) log.error("audit_checkpoint_bucket_failed", { bucket: bucket.address, error: error as Error });
        failing = true;
        if (closing) return;
        await sleep(backoff);
        backoff = Math.min(backoff * 2, BACKOFF_MS.last);
      }
    }
  }

  async function put(checkpoint: SignedCheckpoint): Promise<void> {
    const key = checkpointKey(checkpoint);
    // The same content is fine: an earlier response was lost. Different content proves that the chain was once continued differently, and
    // is kept.
    const body = checkpointBody(checkpoint);
    let other = (await bucket.putNew(key, body)) || (await bucket.get(key)) === body ? null : key;
    // The same goes for a checkpoint of this number over another row.
    for await (const there of bucket.list(checkpointPlace(checkpoint))) if (there !== key) other ??= there;
    if (other === null) return;
    contradicted = true;
    log.error("audit_checkpoint_bucket_contradicts", { bucket: bucket.address, key: other });
  }

  /**
   * On an error, starts over later rather than continuing with the next chain: a complete stretch ends the search for missing checkpoints,
   * so a gap before it would never be found.
   */
  async function catchUp(): Promise<void> {
    for (const chainId of await signedChains(db)) {
      for (const before of await lackingStretches(chainId)) {
        for (const checkpoint of await missingCheckpoints(bucket, chainId, await storedCheckpoints(db, chainId, before, WINDOW))) {
          if (closing) {
            behind = true;
            return;
          }
          await put(checkpoint);
        }
      }
    }
  }

  /**
   * Walks back from the newest checkpoint until a stretch is complete. Returns the checkpoint numbers before which the incomplete stretches
   * end, oldest first.
   */
  async function lackingStretches(chainId: string): Promise<number[]> {
    const ends: number[] = [];
    const [newest] = await storedCheckpoints(db, chainId, Number.MAX_SAFE_INTEGER, 1);
    for (let before = (newest?.checkpoint_no ?? 0) + 1; ;) {
      const stretch = await storedCheckpoints(db, chainId, before, WINDOW);
      const [first] = stretch;
      if (first === undefined || (await missingCheckpoints(bucket, chainId, stretch)).length === 0) return ends.toReversed();
      ends.push(before);
      before = first.checkpoint_no;
    }
  }

  return {
    failing: () => failing || contradicted,
    keep(checkpoints) {
      waiting.push(...checkpoints);
      if (waiting.length > MAX_WAITING) {
        waiting.length = 0;
        behind = true;
      }
      if (!failing) wake?.();
    },
    async close(ms) {
      closing = true;
      wake?.();
      const alarm = Promise.withResolvers<void>();
      const timer = setTimeout(alarm.resolve, ms);
      await Promise.race([running, alarm.promise]);
      clearTimeout(timer);
    },
  };
}
