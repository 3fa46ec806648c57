import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const DAY_MS = 24 * 3_600_000;

/**
 * Creates a temporary folder, which the caller must remove within a day. First removes folders with the same prefix that killed processes
 * left.
 */
export async function temporaryPlace(prefix: string): Promise<string> {
  await removeAbandoned(prefix);
  return mkdtemp(join(tmpdir(), prefix));
}

/** Folders older than a day are no longer in use. */
async function removeAbandoned(prefix: string): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const place of names.filter((name) => name.startsWith(prefix)).map((name) => join(tmpdir(), name))) {
    const changed = await stat(place).catch(() => null);
    // Fails if another process is removing it, or if it belongs to another user.
    if (changed !== null && changed.mtimeMs < Date.now() - DAY_MS) await rm(place, { recursive: true, force: true }).catch(() => undefined);
  }
}
