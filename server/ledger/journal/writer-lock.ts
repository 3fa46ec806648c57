import { join } from "node:path";
import { LockedError, lockFile } from "../../runtime/file-lock.ts";

/** Another live process writes to the journal directory. */
export class JournalInUse extends Error {}

/**
 * Locks a journal directory for this process and returns the release. Throws `JournalInUse`. Hosts that share a directory but not its locks
 * are caught by the chain's record in the database, which names one writer.
 */
export function lockWriter(directory: string): () => void {
  try {
    const lock = lockFile(join(directory, "writer.lock"));
    return () => lock.release();
  } catch (error) {
    if (!(error instanceof LockedError)) throw error;
    throw new JournalInUse(
      `the audit journal in ${directory} is in use by ${error.pid === undefined ? "another process" : `process ${error.pid}`}`,
    );
  }
}
