import type { SignedCheckpoint } from "../journal/journal-contents.ts";

/** Keys sort in the order of signing. Both numbers are there, so that the newest over a row is found without reading. */
export function checkpointKey({ chain_id, checkpoint_no, chain_seq }: Omit<SignedCheckpoint, "note">): string {
  return `${checkpointPlace({ chain_id, checkpoint_no })}${String(chain_seq).padStart(16, "0")}.jsonl`;
}

/** What the key begins with of whatever was signed as this checkpoint of the chain: two of them show that it was continued twice. */
export function checkpointPlace({ chain_id, checkpoint_no }: Pick<SignedCheckpoint, "chain_id" | "checkpoint_no">): string {
  return `${chain_id}/${String(checkpoint_no).padStart(12, "0")}-`;
}
