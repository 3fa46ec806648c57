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
  /** Directory of the journal, made when absent. One ledger at a time. */
  readonly directory: string;
  readonly db: Database;
  readonly durability: "strict" | "relaxed";
  /** Journal bytes that may wait for the database. */
  readonly maxBytes: number;
  /** Ed25519 private key that signs checkpoints, PEM. */
  readonly signingKey: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly newChainId?: () => string;
  readonly segmentBytes?: number;
  readonly checkpointMs?: number;
  /** How long rows wait for others before they go to the database together. */
  readonly shipWaitMs: number;
  /** How long rows that are in the database may stay in the journal's files. */
  readonly segmentMs?: number;
  /** How often a disk that is short of room is relieved of rows that are in the database. */
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
   * Records that a call is about to leave for its upstream, with what is known of it; written before it returns. A call
   * that never leaves needs none. Throws `JournalFailed`: the call must then not be served. Throws for a call whose row
   * is sealed: nothing leaves for it any more.
   */
  begin(row: AuditRow): void;
  /**
   * Gives the row its place in the chain and stores it. Resolves when it is on stable storage (strict) or written
   * (relaxed). Sets created_at, source and the chain fields on `row`. Rejects when it cannot be stored; throws
   * `TypeError` for a row without id. `alone`: no other call is under way, so that waiting on the spot keeps nobody waiting.
   */
  seal(row: AuditRow, alone?: boolean): Promise<void>;
  /** Whether one more call may be let in beside so many `calls`, begun or not, and those begun. */
  accepting(calls?: number): boolean;
  status(): LedgerStatus;
  /** Resolves when everything written so far is in the database. */
  shipped(): Promise<void>;
  /** Leaves nothing in the journal's files of rows that are in the database. Resolves when it is done. */
  scrub(): Promise<void>;
  /** Whether rows were erased as they came into the database that the journal's files still hold. */
  readonly holdsErased: boolean;
  /** Signs the head a last time, ships what can be shipped within a bound, releases the files. */
  close(): Promise<void>;
}

/** The part of the ledger that calls use. */
export type CallLedger = Pick<Ledger, "begin" | "seal" | "accepting">;

const SEGMENT_BYTES = 64 * 1024 * 1024;
/** Retention knows of the database only: on a quiet gateway a segment would keep what it holds for months. */
const SEGMENT_MS = 3_600_000;

/**
 * Opens the ledger of this process: heals what a crash left, claims the chain in the database (which must be there),
 * and starts shipping. Throws `JournalInUse`, `JournalDamaged`, `ChainUnproven`, or what the database said.
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
  // Rows of a writer that died are signed at once: a process that keeps dying would never get to its timer.
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
    // A marker behind its row would be a second row after the next start.
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
    // What is erased from here on may stand in the new segment.
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
