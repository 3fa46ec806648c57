import { CHECKPOINT_ROWS, checkpointDigest, checkpointText, type Checkpoint } from "@gatehouse/ledger-format/checkpoint";
import type { NoteSigner } from "@gatehouse/ledger-format/signed-note";
import { isoMicros, type Clock } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import type { Chain } from "./chain.ts";
import type { Journal } from "./journal.ts";
import type { CheckpointRecord, CheckpointState } from "./journal-contents.ts";

export interface CheckpointerOptions {
  readonly chain: Chain;
  readonly signer: NoteSigner;
  readonly clock: Clock;
  readonly log: Log;
  readonly last: CheckpointState | null;
  /** ISO time before which the key may not sign: a clock set back must not make a checkpoint invalid. */
  readonly keyValidFrom: string;
}

/** Signs the head of the chain into the journal, in its place after the row it is about. */
export interface Checkpointer {
  readonly state: CheckpointState | null;
  /** Signs the head, also when nothing was written since the last time: that proves the silence. Nothing on an empty chain. */
  sign(journal: Journal): void;
  /** Signs when enough rows have been written since the last time. */
  signWhenDue(journal: Journal): void;
}

export function checkpointer({ chain, signer, clock, log, last, keyValidFrom }: CheckpointerOptions): Checkpointer {
  let state = last;

  function sign(journal: Journal): void {
    const { seq, hash } = chain.head;
    if (seq === 0 || journal.failed !== null) return;
    const now = isoMicros(clock.micros());
    const checkpoint: Checkpoint = {
      chainId: chain.chainId,
      chainSeq: seq,
      rowHash: hash,
      time: now < keyValidFrom ? keyValidFrom : now,
      firstSeq: (state?.seq ?? 0) + 1,
      previous: state?.digest ?? null,
    };
    const text = checkpointText(checkpoint);
    const next: CheckpointState = { no: (state?.no ?? 0) + 1, seq, digest: checkpointDigest(text) };
    const record: CheckpointRecord = {
      chain_id: chain.chainId,
      checkpoint_no: next.no,
      chain_seq: seq,
      note: signer.sign(text),
      signed_at: checkpoint.time,
      digest: next.digest,
    };
    // Before it is written: a segment begun by that write states it in its header.
    state = next;
    try {
      journal.checkpoint(JSON.stringify(record));
    } catch (error) {
      log.error("audit_checkpoint_not_written", { chain_seq: seq, error: error as Error });
    }
  }

  return {
    get state() {
      return state;
    },
    sign,
    signWhenDue(journal) {
      if (chain.head.seq - (state?.seq ?? 0) >= CHECKPOINT_ROWS) sign(journal);
    },
  };
}
