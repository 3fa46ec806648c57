import { chmodSync, mkdirSync } from "node:fs";
import { hostname } from "node:os";
import { GENESIS_HASH } from "@gatehouse/ledger-format/canonical";
import { CHECKPOINT_KEY_NAME } from "@gatehouse/ledger-format/checkpoint";
import type { AuditRow } from "@gatehouse/ledger-format/fields";
import { type NoteSigner, noteSigner } from "@gatehouse/ledger-format/signed-note";
import type { Clock } from "../kernel/clock.ts";
import { ulid } from "../kernel/ids.ts";
import type { Log } from "../kernel/log.ts";
import type { shipAuditRows } from "../store/ledger/audit-shipping.ts";
import { claimAuditChain } from "../store/ledger/audit-chain-state.ts";
import type { Database } from "../store/database.ts";
import { type Chain, chainAt } from "./chains/chain.ts";
import { checkpointer, type Checkpointer } from "./checkpoints/checkpointer.ts";
import { writeInterrupted } from "./journal/interrupted-calls.ts";
import type { Journal } from "./journal/journal.ts";
import { ledgerStatus, type LedgerStatus } from "./ledger-status.ts";
import { openJournal } from "./journal/open-journal.ts";
import { resumePoint } from "./journal/recovery.ts";
import { LINE_COLUMNS } from "./row-line.ts";
import { RowWriter } from "./row-writer.ts";
import { scanJournal } from "./journal/scan.ts";
import type { CheckpointRecord, SegmentHeader } from "./journal/journal-contents.ts";
import { journalFiles, type JournalFiles } from "./journal/segments.ts";
import { type Shipper, startShipper } from "./shipping/shipper.ts";
import { registerSigningKey } from "./checkpoints/signing-keys.ts";
import { startUpkeep } from "./upkeep.ts";
import { lockWriter } from "./journal/writer-lock.ts";

export interface LedgerOptions {
  /** Directory of the journal, created if absent. Only one ledger may use it at a time. */
  readonly directory: string;
  readonly db: Database;
  readonly durability: "strict" | "relaxed";
  /** Limit on journal bytes that wait for the database. */
  readonly maxBytes: number;
  /** Ed25519 private key (PEM) that signs checkpoints. */
  readonly signingKey: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly newChainId?: () => string;
  readonly segmentBytes?: number;
  readonly checkpointMs?: number;
  /** How long rows are batched before they are shipped. */
  readonly shipWaitMs: number;
  /** How long shipped rows may stay in the journal's files. */
  readonly segmentMs?: number;
  /** How often to check whether a disk short of space can be relieved of shipped rows. */
  readonly diskMs?: number;
  /** How long `close` waits for the database. */
  readonly closeMs?: number;
  readonly files?: JournalFiles;
  readonly ship?: typeof shipAuditRows;
  /** Called with checkpoints once they are in the database. */
  readonly checkpointed?: (checkpoints: readonly CheckpointRecord[]) => void;
}

export interface Ledger {
  readonly chainId: string;
  /**
   * Writes the begin marker of a call that is about to be sent upstream; written when it returns. A call that is never sent needs none.
   * Throws `JournalFailed`: the call must not be served then. Throws for a call whose row is sealed: it must not be sent any more.
   */
  begin(row: AuditRow): void;
  /**
   * Chains the row and stores it. Resolves when it is on stable storage (strict) or written (relaxed). Sets created_at, source and the
   * chain fields on `row`. Rejects if it cannot be stored; throws `TypeError` for a row without ID. `alone`: no other call is in progress,
   * so a blocking sync delays nobody.
   */
  seal(row: AuditRow, alone?: boolean): Promise<void>;
  /** Whether one more call may be admitted besides `calls` open calls, or besides those begun if they are more. */
  accepting(calls?: number): boolean;
  status(): LedgerStatus;
  /** Resolves when everything written so far is in the database; rejects when that can no longer happen. */
  shipped(): Promise<void>;
  /** Removes shipped rows from the journal's files. Resolves when done. */
  scrub(): Promise<void>;
  /** Whether the journal's files may still hold rows that were erased on their arrival in the database. */
  readonly holdsErased: boolean;
  /** Signs the head a last time, ships what it can within a time limit, and releases the files. */
  close(): Promise<void>;
}

/** The part of the ledger that calls use. */
export type CallLedger = Pick<Ledger, "begin" | "seal" | "accepting">;

const SEGMENT_BYTES = 64 * 1024 * 1024;
/** Retention covers only the database; without this limit a quiet gateway would keep rows in a segment file for months. */
const SEGMENT_MS = 3_600_000;

/**
 * Opens the ledger of this process: recovers from a crash, claims the chain in the database (which must be reachable), and starts shipping.
 * Throws `JournalInUse`, `JournalDamaged`, `ChainUnproven`, or the database's error.
 */
export async function openLedger(options: LedgerOptions): Promise<Ledger> {
  const { directory } = options;
  const files = options.files ?? journalFiles;
  const signer = noteSigner(CHECKPOINT_KEY_NAME, options.signingKey);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  chmodSync(directory, 0o700);
  const release = lockWriter(directory);
  try {
    return await openLocked(options, files, signer, release);
  } catch (error) {
    release();
    throw error;
  }
}

async function openLocked(options: LedgerOptions, files: JournalFiles, signer: NoteSigner, release: () => void): Promise<Ledger> {
  const { directory, db, clock, log } = options;
  const scan = scanJournal(directory, files, log);
  const resume = await resumePoint({ db, scan, key: signer, newChainId: options.newChainId ?? ulid, log });
  const { chainId } = resume;
  const writer = `${hostname()}/${ulid()}`;
  const keyValidFrom = await registerSigningKey(db, signer, clock);
  await claimAuditChain(db, { chainId, writer, genesisHash: GENESIS_HASH, shipped: resume.shipped });

  const chain = chainAt(chainId, resume.head);
  const checkpoints = checkpointer({ chain, signer, clock, log, last: resume.checkpoint, keyValidFrom });
  const header = (): string =>
    JSON.stringify({
      format: 1,
      columns: LINE_COLUMNS,
      chain_id: chainId,
      writer,
      head: chain.head,
      checkpoint: checkpoints.state,
    } satisfies SegmentHeader);
  const journal = openJournal({
    directory,
    files,
    log,
    maxBytes: options.maxBytes,
    segmentBytes: options.segmentBytes ?? SEGMENT_BYTES,
    existing: scan?.segments ?? [],
    number: resume.segment,
    header,
  });
  journal.free(resume.shipped);

  let shippedSeq = () => resume.shippedHead.seq;
  const rows = new RowWriter({ chain, journal, checkpoints, clock, shippedSeq: () => shippedSeq() });
  await writeInterrupted(scan?.unsealed ?? new Map<string, AuditRow>(), { db, log, write: (row) => rows.write(row) });
  // Sign the rows of a dead writer at once: a process that keeps crashing would never reach its timer.
  if (chain.head.seq > (checkpoints.state?.seq ?? 0)) checkpoints.sign(journal);
  await journal.synced();

  const shipping = startShipper({
    db,
    log,
    directory,
    journal,
    chain,
    writer,
    from: resume.shipped,
    shippedHead: resume.shippedHead,
    waitMs: options.shipWaitMs,
    ...(options.ship === undefined ? {} : { ship: options.ship }),
    ...(options.checkpointed === undefined ? {} : { checkpointed: options.checkpointed }),
  });
  shippedSeq = () => shipping.shippedHead.seq;
  shipping.notify();
  const { checkpointMs, diskMs, segmentMs = SEGMENT_MS } = options;
  const stopUpkeep = startUpkeep({ journal, checkpoints, shipping, checkpointMs, diskMs, segmentMs });
  return new OpenLedger({ options, chain, journal, checkpoints, rows, shipping, stopUpkeep, release });
}

interface LedgerParts {
  readonly options: LedgerOptions;
  readonly chain: Chain;
  readonly journal: Journal;
  readonly checkpoints: Checkpointer;
  readonly rows: RowWriter;
  readonly shipping: Shipper;
  readonly stopUpkeep: () => void;
  readonly release: () => void;
}

class OpenLedger implements Ledger {
  readonly chainId: string;
  private readonly parts: LedgerParts;
  private closed: Promise<void> | null = null;

  constructor(parts: LedgerParts) {
    this.parts = parts;
    this.chainId = parts.chain.chainId;
  }

  begin(row: AuditRow): void {
    // A marker after its row would become a second row at the next start.
    if (row.chain_seq != null) throw new Error("the call is over: its row is sealed");
    this.parts.journal.begin(row.id as string, JSON.stringify(row));
  }

  seal(row: AuditRow, alone?: boolean): Promise<void> {
    const { options, journal, rows, shipping } = this.parts;
    if (rows.has(row.id as string)) {
      options.log.error("audit_row_sealed_twice", { row_id: row.id });
      return Promise.resolve();
    }
    try {
      rows.write(row);
      if (options.durability === "relaxed") journal.write();
    } catch (error) {
      if (error instanceof TypeError) throw error;
      return Promise.reject(error);
    }
    shipping.notify();
    return options.durability === "strict" ? journal.synced(alone) : Promise.resolve();
  }

  accepting(calls?: number): boolean {
    return this.closed === null && this.parts.journal.accepting(calls);
  }

  status(): LedgerStatus {
    return ledgerStatus(this.parts);
  }

  shipped(): Promise<void> {
    return this.parts.shipping.shipped();
  }

  async scrub(): Promise<void> {
    const { journal, shipping } = this.parts;
    journal.rotate();
    // Rows erased from here on may be in the new segment.
    shipping.erasedArrivals = false;
    await shipping.shipped();
  }

  get holdsErased(): boolean {
    return this.parts.shipping.erasedArrivals;
  }

  close(): Promise<void> {
    return (this.closed ??= this.end());
  }

  private async end(): Promise<void> {
    const { options, journal, checkpoints, shipping, stopUpkeep, release } = this.parts;
    stopUpkeep();
    checkpoints.sign(journal);
    const bound = Promise.withResolvers<void>();
    const alarm = setTimeout(bound.resolve, options.closeMs ?? 5_000);
    await Promise.race([shipping.shipped(), bound.promise]).catch((error: unknown) =>
      options.log.warn("audit_rows_left_in_journal", { error: error as Error }),
    );
    await Promise.race([shipping.stop(), bound.promise]);
    clearTimeout(alarm);
    await journal.synced().catch(() => undefined);
    journal.close();
    release();
  }
}
