import { readFileSync } from "node:fs";
import { type SavedCheckpoint, savedCheckpoints } from "@gatehouse/ledger-format/anchors";
import { checkpointBucketSettings } from "../kernel/configuration/configured-buckets.ts";
import { readBucketCheckpoints } from "../ledger/checkpoints/bucket-checkpoints.ts";
import { outbound } from "../runtime/outbound.ts";
import { openBucket } from "../store/files/bucket.ts";

/**
 * Checkpoints from a file, or from `s3://bucket/prefix` with the AWS_ variables of `env`; with `chain`, only that chain's. Throws if they
 * cannot be read or there are none: compared with nothing, whatever is left of a chain would pass as intact.
 */
export async function readSavedCheckpoints(
  place: string,
  chain: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Promise<SavedCheckpoint[]> {
  try {
    const kept = savedCheckpoints(await read(place, chain, env)).filter((one) => chain === undefined || one.chainId === chain);
    if (kept.length === 0) throw new Error(chain === undefined ? "holds no checkpoint" : `holds no checkpoint of chain ${chain}`);
    return kept;
  } catch (error) {
    throw new Error(`${place}: ${(error as Error).message}`, { cause: error });
  }
}

async function read(place: string, chain: string | undefined, env: Readonly<Record<string, string | undefined>>): Promise<string> {
  if (!place.startsWith("s3://")) return readFileSync(place, "utf8");
  const settings = checkpointBucketSettings({ ...env, GW_AUDIT_CHECKPOINT_URL: place });
  return settings === undefined ? "" : await readBucketCheckpoints(openBucket(settings, outbound({ allowPrivate: true })), chain);
}
