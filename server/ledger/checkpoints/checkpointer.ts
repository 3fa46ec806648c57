import { CHECKPOINT_ROWS } from "@gatehouse/ledger-format/checkpoint";
import type { Log } from "../../kernel/log.ts";
import type { Chain } from "../chains/chain.ts";
import type { Journal } from "../journal/journal.ts";
import type { CheckpointState } from "../journal/journal-contents.ts";
import { type HeadSigner, signHead } from "./sign-head.ts";

export interface CheckpointerOptions extends HeadSigner {
  readonly chain: Chain;
  readonly log: Log;
  readonly last: CheckpointState | null;
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
    const record = signHead({ signer, clock, keyValidFrom }, { chainId: chain.chainId, seq, hash }, state);
    // Before it is written: a segment begun by that write states it in its header.
    state = { no: record.checkpoint_no, seq, digest: record.digest };
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
