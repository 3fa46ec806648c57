import type { Configuration } from "../../kernel/configuration/configuration.ts";
import type { Log } from "../../kernel/log.ts";
import type { Telemetry } from "../../kernel/telemetry/telemetry.ts";
import { openBucket } from "../../store/files/bucket.ts";
import type { Database } from "../../store/database.ts";
import { outbound } from "../../runtime/outbound.ts";
import { checkpointBucket } from "./checkpoint-bucket.ts";
import { checkpointFile } from "./checkpoint-file.ts";
import type { SignedCheckpoint } from "../journal/journal-contents.ts";

/** The places outside the database that signed checkpoints are copied to. */
export interface CheckpointTargets {
  keep(checkpoints: readonly SignedCheckpoint[]): void;
  close(): Promise<void>;
}

const CLOSE_MS = 5_000;

export function checkpointTargets(
  config: Pick<Configuration, "auditCheckpointFile" | "auditCheckpointBucket">,
  db: Database,
  log: Log,
  metrics: Pick<Telemetry, "watchCheckpoints">,
): CheckpointTargets {
  const file = config.auditCheckpointFile === undefined ? null : checkpointFile(config.auditCheckpointFile, log);
  // The operator configured the address, so it may be private.
  const bucket =
    config.auditCheckpointBucket === undefined
      ? null
      : checkpointBucket(openBucket(config.auditCheckpointBucket, outbound({ allowPrivate: true })), db, log);
  metrics.watchCheckpoints(() => ({
    ...(file === null ? {} : { file: file.failing() }),
    ...(bucket === null ? {} : { bucket: bucket.failing() }),
  }));
  return {
    keep(checkpoints) {
      file?.keep(checkpoints);
      bucket?.keep(checkpoints);
    },
    async close() {
      await bucket?.close(CLOSE_MS);
    },
  };
}
