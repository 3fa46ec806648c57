import type { Clock } from "../../kernel/clock.ts";
import type { BlobStore } from "../../store/blobs.ts";
import type { Database } from "../../store/database.ts";
import { removeDue, sweepFiles } from "../../store/files.ts";
import { sweepResumableUploads } from "../../store/resumable-uploads.ts";

const AT_ONCE = 200;

/** Removes the bytes of what was deleted and of uploads that came to nothing. A key that cannot be removed is tried again. */
export async function removeBytes({ db, blobs }: { readonly db: Database; readonly blobs: BlobStore }): Promise<void> {
  const removed = (keys: string[]) =>
    Promise.allSettled(keys.map((key) => blobs.remove(key))).then((tried) => keys.filter((_, at) => tried[at]?.status === "fulfilled"));
  while ((await removeDue(db, AT_ONCE, removed)) === AT_ONCE);
}

/** Ends files, and uploads under way, whose time is over. */
export async function endFiles({ db, clock }: { readonly db: Database; readonly clock: Clock }): Promise<void> {
  const now = new Date(clock.now());
  await sweepFiles(db, now);
  await sweepResumableUploads(db, now);
}
