import { CHECKPOINT_MS } from "@gatehouse/ledger-format/checkpoint";
import type { Checkpointer } from "./checkpoints/checkpointer.ts";
import { type Journal, JournalFailed } from "./journal/journal.ts";
import type { Shipper } from "./shipping/shipper.ts";

export interface UpkeepOptions {
  readonly journal: Journal;
  readonly checkpoints: Checkpointer;
  readonly shipping: Shipper;
  readonly checkpointMs: number | undefined;
  readonly diskMs: number | undefined;
  readonly segmentMs: number;
}

const DISK_CHECK_INTERVAL_MS = 1_000;

/** Periodically signs the head, ends old segments and checks the disk. Returns a function that stops it. */
export function startUpkeep({ journal, checkpoints, shipping, checkpointMs, diskMs, segmentMs }: UpkeepOptions): () => void {
  const timer = setInterval(() => {
    checkpoints.sign(journal);
    unlessFailed(() => journal.rotateWhenOld(segmentMs));
    shipping.notify();
  }, checkpointMs ?? CHECKPOINT_MS);
  timer.unref();
  const diskTimer = setInterval(() => {
    if (unlessFailed(() => journal.makeRoom())) shipping.notify();
  }, diskMs ?? DISK_CHECK_INTERVAL_MS);
  diskTimer.unref();
  return () => {
    clearInterval(timer);
    clearInterval(diskTimer);
  };
}

function unlessFailed(work: () => boolean): boolean {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof JournalFailed)) throw error;
    return false;
  }
}
