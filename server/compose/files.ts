import { dirname, join } from "node:path";
import { directoryWatch, endFiles, removeBytes } from "../directory/files/file-upkeep.ts";
import { Spool } from "../directory/files/spool.ts";
import { ResumableUploads } from "../directory/files/resumable-uploads.ts";
import { Files } from "../directory/files/stored-files.ts";
import { FileRoom } from "../road/request/file-room.ts";
import { UploadKeys } from "../services/files/upload-keys.ts";
import type { Snapshots } from "../directory/snapshots.ts";
import type { Configuration } from "../kernel/configuration/configuration.ts";
import type { ProcessGroup } from "../group/process-group.ts";
import type { Job } from "../kernel/scheduling/job.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import type { SecretBox } from "../kernel/secrets.ts";
import type { BlobStore } from "../store/files/blobs.ts";
import type { DatabaseConnection } from "../store/database.ts";
import { AudioLengths } from "../runtime/sound-length.ts";

const BYTES_REMOVED_MS = 2_000;
const FILES_ENDED_MS = 60_000;
const DIRECTORY_INTERVAL_MS = 60_000;

interface StoreParts {
  readonly connection: Pick<DatabaseConnection, "db">;
  readonly blobs: BlobStore;
  readonly secrets: SecretBox;
  readonly clock: Clock;
  readonly log: Log;
  readonly journal: string;
  readonly group: Pick<ProcessGroup, "homeDir">;
}

/** Callers' files, resumable uploads, and temporary storage for files of calls in progress. */
export async function openFiles(config: Configuration, parts: StoreParts, snapshots: Snapshots) {
  const { blobs, secrets, clock, log, journal } = parts;
  const { db } = parts.connection;
  const files = new Files({ db, blobs, secrets, clock, log, tenant: (id) => snapshots.tenant(id) });
  const uploads = new ResumableUploads({ db, blobs, clock }, files);
  // Next to the journal, which likewise belongs to one process.
  const spool = await Spool.open(join(dirname(journal), "spool"), new AudioLengths());
  return {
    files,
    uploads,
    uploadKeys: new UploadKeys({ secrets, clock }),
    spool,
    room: new FileRoom(),
    publicUrl: config.publicUrl ?? null,
  };
}

export async function fileJobs({ connection: { db }, clock, blobs, log, group }: StoreParts): Promise<Job[]> {
  const watch = directoryWatch({ db, blobs, log });
  // One of the processes that share the directory reports for all.
  const speaks = group.homeDir === null;
  if (speaks) await watch();
  return [
    ...(speaks ? [{ name: "tell_file_directory", everyMs: DIRECTORY_INTERVAL_MS, run: watch }] : []),
    { name: "remove_file_bytes", everyMs: BYTES_REMOVED_MS, run: () => removeBytes({ db, blobs }) },
    { name: "end_files", everyMs: FILES_ENDED_MS, run: () => endFiles({ db, clock }) },
  ];
}
