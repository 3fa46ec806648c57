import { type SavedCheckpoint, savedCheckpoints } from "@gatehouse/ledger-format/anchors";
import { openCheckpoint, type TrustedKey } from "@gatehouse/ledger-format/checkpoint";
import { NotAnExport, printExportLine } from "@gatehouse/ledger-format/export";
import type { ObjectBucket } from "../../store/files/bucket.ts";
import type { SignedCheckpoint } from "../journal/journal-contents.ts";
import { checkpointKey } from "./checkpoint-key.ts";

const AT_ONCE = 8;

/** What the object of a checkpoint contains. */
export const checkpointBody = ({ chain_seq, note }: SignedCheckpoint): string => printExportLine({ type: "checkpoint", chain_seq, note });

/** Keys of the checkpoints whose object in the bucket does not state the same about the chain. Throws `BucketFailed`. */
export async function differingCheckpoints(
  bucket: ObjectBucket,
  checkpoints: readonly SignedCheckpoint[],
  keys: readonly TrustedKey[],
): Promise<string[]> {
  const differing: string[] = [];
  for (let from = 0; from < checkpoints.length; from += AT_ONCE)
    await Promise.all(
      checkpoints.slice(from, from + AT_ONCE).map(async (checkpoint) => {
        const body = await bucket.get(checkpointKey(checkpoint));
        if (body !== null && body !== checkpointBody(checkpoint) && !isSameHead(body, checkpoint, keys))
          differing.push(checkpointKey(checkpoint));
      }),
    );
  return differing.toSorted();
}

/** After a restore, the head may be signed by the backup instead of by the process that was about to sign it: at another time. */
function isSameHead(body: string, { note }: SignedCheckpoint, keys: readonly TrustedKey[]): boolean {
  const there = openCheckpoint(onlyCheckpoint(body)?.note ?? "", keys);
  const { checkpoint } = openCheckpoint(note, keys);
  return (
    there.invalid === null &&
    there.checkpoint?.chainId === checkpoint?.chainId &&
    there.checkpoint?.chainSeq === checkpoint?.chainSeq &&
    there.checkpoint?.rowHash === checkpoint?.rowHash
  );
}

function onlyCheckpoint(body: string): SavedCheckpoint | undefined {
  try {
    return savedCheckpoints(body)[0];
  } catch (error) {
    if (error instanceof NotAnExport) return undefined;
    throw error;
  }
}
