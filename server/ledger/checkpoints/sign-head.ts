import { checkpointDigest, checkpointText, type Checkpoint } from "@gatehouse/ledger-format/checkpoint";
import { noteText, type NoteSigner } from "@gatehouse/ledger-format/signed-note";
import { isoMicros, type Clock } from "../../kernel/clock.ts";
import type { CheckpointRecord, CheckpointState, SignedCheckpoint } from "../journal/journal-contents.ts";

export interface HeadSigner {
  readonly signer: NoteSigner;
  readonly clock: Clock;
  /** ISO time before which the key may not sign: if the clock was set back, this time is used, so that the checkpoint stays valid. */
  readonly keyValidFrom: string;
}

/** The next checkpoint of a chain, covering its head. `last` is the checkpoint before it. */
export function signHead(
  { signer, clock, keyValidFrom }: HeadSigner,
  head: { readonly chainId: string; readonly seq: number; readonly hash: string },
  last: CheckpointState | null,
): CheckpointRecord {
  const now = isoMicros(clock.micros());
  const checkpoint: Checkpoint = {
    chainId: head.chainId,
    chainSeq: head.seq,
    rowHash: head.hash,
    time: now < keyValidFrom ? keyValidFrom : now,
    firstSeq: (last?.seq ?? 0) + 1,
    previous: last?.digest ?? null,
  };
  const text = checkpointText(checkpoint);
  return {
    chain_id: head.chainId,
    checkpoint_no: (last?.no ?? 0) + 1,
    chain_seq: head.seq,
    note: signer.sign(text),
    signed_at: checkpoint.time,
    digest: checkpointDigest(text),
  };
}

/** Throws if the note is not a signed note, so that no gateway wrote it. */
export function checkpointState({ checkpoint_no: no, chain_seq: seq, note }: SignedCheckpoint): CheckpointState {
  const text = noteText(note);
  if (text === null) throw new Error(`checkpoint ${no} is no signed note`);
  return { no, seq, digest: checkpointDigest(text) };
}
