import { join } from "node:path";
import type { JournalFiles } from "./segments.ts";

/** Reserved disk space that is released when the disk is full, so that calls already admitted can still be recorded. */
export interface Ballast {
  /** Releases the space. False if there is none left to release. */
  drop(): boolean;
  /** Reserves the space again; does nothing if it is reserved already or the disk has no room yet. */
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
      // The file did not exist; or it cannot be removed, and the next write fails for lack of space again.
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
