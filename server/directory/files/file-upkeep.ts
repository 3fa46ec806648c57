import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import type { BlobStore } from "../../store/files/blobs.ts";
import type { Database } from "../../store/database.ts";
import { type DueBlob, forgetLostBlobs, noteFileDirectory, removeDue, removeReleased, sweepFiles } from "../../store/files/files.ts";
import { sweepResumableUploads } from "../../store/files/resumable-uploads.ts";

const AT_ONCE = 200;

interface Upkeep {
  readonly db: Database;
  readonly blobs: BlobStore;
}

/**
 * Removes the bytes of deleted files and abandoned uploads. Failed removals are retried; so are keys not found here, for a
 * day, as they may be in another process's directory.
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

/** Warns once per process if another process of this database stores files in a different directory. */
export function directoryWatch({ db, blobs, log }: Upkeep & { readonly log: Log }): () => Promise<void> {
  let isReported = false;
  return async () => {
    if (blobs.directory === null || !(await noteFileDirectory(db, blobs.directory)) || isReported) return;
    isReported = true;
    log.warn("files_not_shared", {
      directory: blobs.address,
      reason:
        "another process of this database stores files in a directory of its own, and neither reads those of the other: set GW_BLOB_URL",
    });
  };
}

/** Ends expired files and uploads, and gives up on bytes in directories that no longer exist. */
export async function endFiles({ db, clock }: { readonly db: Database; readonly clock: Clock }): Promise<void> {
  const now = new Date(clock.now());
  await sweepFiles(db, now);
  await removeReleased(db);
  await sweepResumableUploads(db, now);
  await forgetLostBlobs(db);
}
