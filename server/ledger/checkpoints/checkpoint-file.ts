import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from "node:fs";
import { printExportLine } from "@gatehouse/ledger-format/export";
import type { Log } from "../../kernel/log.ts";
import type { SignedCheckpoint } from "../journal/journal-contents.ts";

const LINE_FEED = 0x0a;

export interface CheckpointFile {
  keep(checkpoints: readonly SignedCheckpoint[]): void;
  /** Whether the last write failed. */
  failing(): boolean;
}

/**
 * Appends checkpoints to a file, as export lines. If whoever can write to the database cannot write this file, it proves how far the ledger
 * once reached. Calls do not depend on it: a failed write is logged, and the next checkpoint covers the same rows.
 */
export function checkpointFile(path: string, log: Log): CheckpointFile {
  let failing = false;
  return {
    failing: () => failing,
    keep(checkpoints) {
      try {
        const fd = openSync(path, "a", 0o600);
        try {
          const lines = checkpoints.map(({ chain_seq, note }) => printExportLine({ type: "checkpoint", chain_seq, note })).join("");
          const bytes = Buffer.from(endsInLine(path) ? lines : `\n${lines}`);
          for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done);
          fsyncSync(fd);
        } finally {
          closeSync(fd);
        }
        failing = false;
      } catch (error) {
        failing = true;
        log.error("audit_checkpoint_file_failed", { path, error: error as Error });
      }
    },
  };
}

/**
 * Whether the file ends with a complete line, as far as it can be read. A crash or a full disk may have left a torn line, to which nothing
 * may be appended.
 */
function endsInLine(path: string): boolean {
  try {
    const fd = openSync(path, "r");
    try {
      const { size } = fstatSync(fd);
      const last = Buffer.alloc(1);
      return size === 0 || readSync(fd, last, 0, 1, size - 1) === 0 || last[0] === LINE_FEED;
    } finally {
      closeSync(fd);
    }
  } catch {
    return true;
  }
}
