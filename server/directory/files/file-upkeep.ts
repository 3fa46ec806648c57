import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import type { BlobStore } from "../../store/files/blobs.ts";
import type { Database } from "../../store/database.ts";
import { type DueBlob, forgetLostBlobs, noteFileDirectory, removeDue, sweepFiles } from "../../store/files/files.ts";
import { sweepResumableUploads } from "../../store/files/resumable-uploads.ts";

const AT_ONCE = 200;

interface Upkeep {
  readonly db: Database;
  readonly blobs: BlobStore;
}

/**
 * Removes the bytes of what was deleted and of uploads that came to nothing. A key that cannot be removed is tried again, and so
 * for a day is one that is not here and may be in the directory of another process.
 */
export async function removeBytes({ db, blobs }: Upkeep): Promise<void> {
  const removed = async (due: readonly DueBlob[]): Promise<string[]> => {
    const tried = await Promise.allSettled(due.map(({ key }) => blobs.remove(key)));
    return due
      .filter(({ directory, isOld }, at) => {
        const one = tried[at];
        return one?.status === "fulfilled" && (one.value || directory === blobs.directory || isOld);
      })
      .map(({ key }) => key);
  };
  while ((await removeDue(db, blobs.directory, AT_ONCE, removed)) === AT_ONCE);
}

/** Warns, once in the life of a process, when another one of this database stores files in a directory of its own. */
export function directoryWatch({ db, blobs, log }: Upkeep & { readonly log: Log }): () => Promise<void> {
  let isTold = false;
  return async () => {
    if (blobs.directory === null || !(await noteFileDirectory(db, blobs.directory)) || isTold) return;
    isTold = true;
    log.warn("files_not_shared", {
      directory: blobs.address,
      reason:
        "another process of this database stores files in a directory of its own, and neither reads those of the other: set GW_BLOB_URL",
    });
  };
}

/** Ends files, and uploads under way, whose time is over, and waits no longer for directories that are gone. */
export async function endFiles({ db, clock }: { readonly db: Database; readonly clock: Clock }): Promise<void> {
  const now = new Date(clock.now());
  await sweepFiles(db, now);
  await sweepResumableUploads(db, now);
  await forgetLostBlobs(db);
}
