import { readFileSync } from "node:fs";
import { type KeptCheckpoint, keptCheckpoints } from "@gatehouse/ledger-format/anchors";
import { checkpointBucket } from "../kernel/configuration.ts";
import { keptInBucket } from "../ledger/kept-in-bucket.ts";
import { outbound } from "../runtime/outbound.ts";
import { openBucket } from "../store/bucket.ts";

/**
 * Checkpoints from a file, or from `s3://bucket/prefix` with the AWS_ variables of `env`. Only those of `chain` are
 * fetched from a bucket when it is given. Throws when they cannot be read.
 */
export async function readKeptCheckpoints(place: string, chain: string | undefined, env: Readonly<Record<string, string | undefined>>): Promise<KeptCheckpoint[]> {
  try {
    if (!place.startsWith("s3://")) return keptCheckpoints(readFileSync(place, "utf8"));
    const settings = checkpointBucket({ ...env, GW_AUDIT_CHECKPOINT_URL: place });
    if (settings === undefined) return [];
    return keptCheckpoints(await keptInBucket(openBucket(settings, outbound({ allowPrivate: true })), chain));
  } catch (error) {
    throw new Error(`${place}: ${(error as Error).message}`, { cause: error });
  }
}
