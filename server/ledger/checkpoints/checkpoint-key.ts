import type { SignedCheckpoint } from "../journal/journal-contents.ts";

/**
 * Object keys sort in the order of signing. Both numbers are in the key, so that the newest checkpoint over a row is found without reading
 * objects.
 */
export function checkpointKey({ chain_id, checkpoint_no, chain_seq }: Omit<SignedCheckpoint, "note">): string {
  return `${checkpointPlace({ chain_id, checkpoint_no })}${String(chain_seq).padStart(16, "0")}.jsonl`;
}

/** The key prefix of every checkpoint signed under this number. Two keys with it prove that the chain was continued twice. */
export function checkpointPlace({ chain_id, checkpoint_no }: Pick<SignedCheckpoint, "chain_id" | "checkpoint_no">): string {
  return `${chain_id}/${String(checkpoint_no).padStart(12, "0")}-`;
}
