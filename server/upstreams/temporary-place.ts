import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const DAY_MS = 24 * 3_600_000;

/**
 * A new folder below the one for temporary files, for whoever removes it within the day. What is left under the same `prefix`
 * by processes that were killed goes first.
 */
export async function temporaryPlace(prefix: string): Promise<string> {
  await removeAbandoned(prefix);
  return mkdtemp(join(tmpdir(), prefix));
}

/** Nothing that is still read is as old. */
async function removeAbandoned(prefix: string): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const place of names.filter((name) => name.startsWith(prefix)).map((name) => join(tmpdir(), name))) {
    const changed = await stat(place).catch(() => null);
    // Another process may be at it, or it is another user's.
    if (changed !== null && changed.mtimeMs < Date.now() - DAY_MS) await rm(place, { recursive: true, force: true }).catch(() => undefined);
  }
}
