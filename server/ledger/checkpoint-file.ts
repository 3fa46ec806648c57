import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { printExportLine } from "@gatehouse/ledger-format/export";
import type { Log } from "../kernel/log.ts";
import type { SignedCheckpoint } from "./scan.ts";

/**
 * Appends checkpoints to a file, as lines of an export. Where the file is out of reach of whoever can write the
 * database, it proves how far the ledger once reached. Calls do not depend on it: what cannot be written is logged, and
 * the next checkpoint covers the same rows.
 */
export function checkpointFile(path: string, log: Log): (checkpoints: readonly SignedCheckpoint[]) => void {
  return (checkpoints) => {
    try {
      const fd = openSync(path, "a", 0o600);
      try {
        writeSync(fd, checkpoints.map(({ chain_seq, note }) => printExportLine({ type: "checkpoint", chain_seq, note })).join(""));
        fsyncSync(fd);
      } finally {
        closeSync(fd);
      }
    } catch (error) {
      log.error("audit_checkpoint_file_failed", { path, error: error as Error });
    }
  };
}
