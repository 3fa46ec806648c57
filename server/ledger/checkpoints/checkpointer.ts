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

/** Signs the head of the chain and writes the checkpoint to the journal, right after the row it covers. */
export interface Checkpointer {
  readonly state: CheckpointState | null;
  /** Signs the head, even if nothing was written since the last time, which proves the silence. Does nothing on an empty chain. */
  sign(journal: Journal): void;
  /** Signs if enough rows were written since the last time. */
  signWhenDue(journal: Journal): void;
}

export function checkpointer({ chain, signer, clock, log, last, keyValidFrom }: CheckpointerOptions): Checkpointer {
  let state = last;

  function sign(journal: Journal): void {
    const { seq, hash } = chain.head;
    if (seq === 0 || journal.failed !== null) return;
    const record = signHead({ signer, clock, keyValidFrom }, { chainId: chain.chainId, seq, hash }, state);
    // Set before writing: if that write begins a new segment, its header must include this checkpoint.
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
