import type { AuditRow } from "@gatehouse/ledger-format/fields";
import type { ChainHead } from "../chains/chain.ts";
import type { Segment } from "./segments.ts";

/** The newest checkpoint of a chain. */
export interface CheckpointState {
  /** Consecutive from 1. */
  readonly no: number;
  readonly seq: number;
  /** `checkpointDigest` of its text. */
  readonly digest: string;
}

/** Payload of the H record at the start of each segment, which makes the journal self-contained: it states where the chain stands. */
export interface SegmentHeader {
  readonly format: 1;
  /** Columns of the row lines in this segment. */
  readonly columns: readonly string[];
  readonly chain_id: string;
  readonly writer: string;
  readonly head: ChainHead;
  readonly checkpoint: CheckpointState | null;
}

/** A checkpoint and its number within its chain. */
export interface SignedCheckpoint {
  readonly chain_id: string;
  /** From 1, in the order of signing. */
  readonly checkpoint_no: number;
  readonly chain_seq: number;
  readonly note: string;
}

/** Payload of a C record: the row of `audit_checkpoints`, and the digest the next checkpoint names. */
export interface CheckpointRecord extends SignedCheckpoint {
  readonly signed_at: string;
  readonly digest: string;
}

/** The contents of a journal directory whose writer has ended. */
export interface JournalScan {
  readonly segments: readonly Segment[];
  readonly chainId: string;
  /** Its last writer. */
  readonly writer: string;
  readonly head: ChainHead;
  readonly checkpoint: CheckpointState | null;
  /** Begin markers without a sealed row, by call ID, in the order the calls began. */
  readonly unsealed: ReadonlyMap<string, AuditRow>;
}

/** A record that was completely written is no longer readable. The journal is left unchanged for inspection. */
export class JournalDamaged extends Error {
  constructor(path: string, offset: number, why: string) {
    super(
      `the audit journal is damaged: ${path} at byte ${offset}: ${why}. No row has been dropped; restore the file, or move ` +
        `the journal directory away to start a new chain`,
    );
  }
}
