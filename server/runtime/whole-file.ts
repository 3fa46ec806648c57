import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Atomically writes a file readable only by its owner, and syncs it: the previous file stays intact until then. */
export function writeWhole(path: string, text: string): void {
  const temporary = `${path}.new`;
  rmSync(temporary, { force: true });
  const file = openSync(temporary, "wx", 0o600);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  syncDirectory(dirname(path));
}

/** Makes file creations and renames in the directory durable. */
export function syncDirectory(path: string): void {
  const directory = openSync(path, "r");
  fsyncSync(directory);
  closeSync(directory);
}
