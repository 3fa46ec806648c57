import type { SignedCheckpoint } from "../journal/journal-contents.ts";

/** Keys sort in the order of signing. Both numbers are there, so that the newest over a row is found without reading. */
export function checkpointKey({ chain_id, checkpoint_no, chain_seq }: Omit<SignedCheckpoint, "note">): string {
  return `${chain_id}/${String(checkpoint_no).padStart(12, "0")}-${String(chain_seq).padStart(16, "0")}.jsonl`;
}
