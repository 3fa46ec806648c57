import { GENESIS_HASH } from "@gatehouse/ledger-format/canonical";
import { checkpointDigest, openCheckpoint } from "@gatehouse/ledger-format/checkpoint";
import type { AuditRow } from "@gatehouse/ledger-format/fields";
import { type NoteKey, noteText } from "@gatehouse/ledger-format/signed-note";
import { readAuditChain } from "../../store/ledger/audit-chain-state.ts";
import { type LastCheckpoint, readLastCheckpoint } from "../../store/ledger/last-checkpoint.ts";
import type { Database } from "../../store/database.ts";
import type { Log } from "../../kernel/log.ts";
import type { ChainHead } from "../chains/chain.ts";
import { ChainUnproven } from "./chain-unproven.ts";
import type { CheckpointState, JournalScan } from "./journal-contents.ts";
import type { Position } from "./segments.ts";

/** Where a writer continues its chain. */
export interface ResumePoint {
  readonly chainId: string;
  readonly head: ChainHead;
  readonly checkpoint: CheckpointState | null;
  /** Number of the segment to create. */
  readonly segment: number;
  /** How far the journal has been shipped to the database. */
  readonly shipped: Position;
  readonly shippedHead: ChainHead;
}

const INTERRUPTED = "gateway_interrupted";

interface ResumeParts {
  readonly db: Database;
  readonly scan: JournalScan | null;
  /** The key that signs this writer's checkpoints. */
  readonly key: NoteKey;
  readonly newChainId: () => string;
  readonly log: Log;
}

/** Determines where the chain continues: at the later of the heads in journal and database. Throws `ChainUnproven`. */
export async function resumePoint({ db, scan, key, newChainId, log }: ResumeParts): Promise<ResumePoint> {
  const start: ChainHead = { seq: 0, hash: GENESIS_HASH };
  if (scan === null)
    return { chainId: newChainId(), head: start, checkpoint: null, segment: 1, shipped: { segment: 1, offset: 0 }, shippedHead: start };

  const { chainId, segments } = scan;
  const recorded = await readAuditChain(db, chainId);
  const shippedHead = recorded === null ? start : { seq: recorded.headSeq, hash: recorded.headHash };
  let { head, checkpoint } = scan;
  // The database is not the one the chain began in, or is an older copy. Verification reports what is missing in it.
  if (recorded === null && head.seq > 0) log.warn("audit_chain_unknown_to_database", { chain_id: chainId, journal_seq: head.seq });
  const last = await readLastCheckpoint(db, chainId);
  if (shippedHead.seq > head.seq) {
    // Rows are shipped only from stable storage, so an untouched journal is never behind.
    if (!isSigned(shippedHead, last, chainId, key))
      throw new ChainUnproven({
        chainId,
        journalSeq: head.seq,
        databaseSeq: shippedHead.seq,
        writer: scan.writer,
        continuedBy: recorded?.writer,
      });
    log.warn("audit_journal_behind_database", { chain_id: chainId, journal_seq: head.seq, database_seq: shippedHead.seq });
    head = shippedHead;
  }
  if (last !== null && last.no > (checkpoint?.no ?? 0)) {
    const text = noteText(last.note);
    if (text !== null) checkpoint = { no: last.no, seq: last.seq, digest: checkpointDigest(text) };
  }
  const oldest = segments[0]?.number ?? 1;
  // A copy of the journal that was written to elsewhere has segments with the same numbers but other rows.
  const known =
    recorded !== null &&
    recorded.writer === scan.writer &&
    segments.some(({ number, size }) => number === recorded.shipped.segment && recorded.shipped.offset <= size);
  if (recorded !== null && !known)
    log.warn("audit_journal_shipped_again", { chain_id: chainId, segment: oldest, writer: scan.writer, database_writer: recorded.writer });
  return {
    chainId,
    head,
    checkpoint,
    segment: (segments.at(-1)?.number ?? 0) + 1,
    // Rows already in the database are skipped by ID.
    shipped: known ? recorded.shipped : { segment: oldest, offset: 0 },
    shippedHead,
  };
}

function isSigned(head: ChainHead, last: LastCheckpoint | null, chainId: string, key: NoteKey): boolean {
  if (last === null) return false;
  const { checkpoint, invalid } = openCheckpoint(last.note, [{ ...key, validFrom: null, validTo: null }]);
  return invalid === null && checkpoint?.chainId === chainId && checkpoint.chainSeq === head.seq && checkpoint.rowHash === head.hash;
}

/**
 * The row of a call that was in progress when its gateway died: everything its begin marker recorded, and how it ended. A marker that lists
 * attempts was written before one more.
 */
export function interruptedRow(marker: AuditRow): AuditRow {
  const markedAttempts = (marker.custom_metadata as { attempts?: object[] } | null | undefined)?.attempts;
  const underWay = { model: marker.llm_model_used, provider: marker.llm_provider, outcome: INTERRUPTED, status: null, duration_ms: null };
  return {
    ...marker,
    ...(markedAttempts === undefined
      ? {}
      : { custom_metadata: { ...(marker.custom_metadata as object), attempts: [...markedAttempts, underWay] } }),
    success: false,
    error_type: INTERRUPTED,
    error_message: "The gateway process ended before this call did; what its upstream did is not known.",
  };
}
