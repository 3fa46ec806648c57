import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

let directory: string | undefined;

/** One directory for everything the run writes, removed by `removeScratch`. */
export function scratchDirectory(): string {
  if (directory === undefined) {
    directory = mkdtempSync(join(tmpdir(), "gatehouse-bench-"));
    // The embedded database may run as another user, who must be able to reach the data directory.
    chmodSync(directory, 0o711);
  }
  return directory;
}

export function removeScratch(): void {
  if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
  directory = undefined;
}
