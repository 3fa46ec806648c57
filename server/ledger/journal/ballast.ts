import { join } from "node:path";
import type { JournalFiles } from "./segments.ts";

/** Bytes that are given up when the disk is full, so that what was let in while there was room can still be recorded. */
export interface Ballast {
  /** Gives the bytes back to the disk. False when there is nothing left to give. */
  drop(): boolean;
  /** Takes them again; nothing when they are there, or the disk has no room yet. */
  take(): void;
}

export const BALLAST_BYTES = 4 * 1024 * 1024;

export function ballastIn(directory: string, files: JournalFiles): Ballast {
  const path = join(directory, "ballast");
  let there = false;

  function remove(): void {
    try {
      files.remove(path);
    } catch {
      // It was not there; or it stays, and the next write says again that there is no room.
    }
  }

  return {
    drop() {
      if (!there) return false;
      there = false;
      remove();
      return true;
    },
    take() {
      if (there) return;
      try {
        files.fill(path, BALLAST_BYTES);
        there = true;
      } catch {
        remove();
      }
    },
  };
}
