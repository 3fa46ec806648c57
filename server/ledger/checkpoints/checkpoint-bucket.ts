import { printExportLine } from "@gatehouse/ledger-format/export";
import type { Log } from "../../kernel/log.ts";
import type { ObjectBucket } from "../../store/files/bucket.ts";
import type { Database } from "../../store/database.ts";
import type { SignedCheckpoint } from "../journal/journal-contents.ts";
import { checkpointKey, checkpointPlace } from "./checkpoint-key.ts";
import { missingCheckpoints, signedChains, storedCheckpoints } from "./stored-checkpoints.ts";

/** Puts checkpoints into a bucket, each an object that is written once. */
export interface CheckpointBucket {
  /** Returns at once. What cannot be put is tried again, for as long as it takes; nothing else waits for it. */
  keep(checkpoints: readonly SignedCheckpoint[]): void;
  /** Whether what waits could not be put, or another checkpoint stood at the place of one. */
  failing(): boolean;
  /** Gives what waits a last chance of `ms`. What is left is found at the next start. */
  close(ms: number): Promise<void>;
}

const MAX_WAITING = 10_000;
const WINDOW = 500;
const BACKOFF_MS = { first: 500, last: 60_000 };
/** How often to look for checkpoints that were never reported: those of a process that died. */
const LOOK_MS = 3_600_000;

const body = ({ chain_seq, note }: SignedCheckpoint): string => printExportLine({ type: "checkpoint", chain_seq, note });

/**
 * Begins with what the database has and the bucket lacks: what an earlier process, or one that died, could not put.
 * `backoffMs` is the first wait after a failure; it doubles up to a minute.
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
        if (waiting.length === 0 && !behind) behind = (await sleep(LOOK_MS)) === "time" || behind;
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
    // The same one, when an earlier answer was lost. Another one shows that this chain was once continued otherwise: it stays.
    let other = (await bucket.putNew(key, body(checkpoint))) || (await bucket.get(key)) === body(checkpoint) ? null : key;
    // So does one of the same number over another row.
    for await (const there of bucket.list(checkpointPlace(checkpoint))) if (there !== key) other ??= there;
    if (other === null) return;
    contradicted = true;
    log.error("audit_checkpoint_bucket_contradicts", { bucket: bucket.address, key: other });
  }

  /** What is broken off leaves no gap: the next one would take a whole stretch after it for the end of what is lacking. */
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

  /** From the newest back, until a stretch that is there whole. The numbers before which they end, oldest first. */
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
