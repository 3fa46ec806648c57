import type { ChainHead } from "./chains/chain.ts";
import type { Journal } from "./journal/journal.ts";
import type { RowWriter } from "./row-writer.ts";
import type { Shipper } from "./shipping/shipper.ts";

export interface LedgerStatus {
  readonly chainId: string;
  readonly headSeq: number;
  readonly headHash: string;
  /** Head of the chain in the database. A verification may be held to it. */
  readonly shippedSeq: number;
  readonly shippedHash: string;
  /** Calls begun and not sealed. */
  readonly openCalls: number;
  readonly unshippedBytes: number;
  readonly unshippedRows: number;
  /** ISO time of about the oldest row that waits for the database. */
  readonly oldestUnshippedAt: string | null;
  /** Why no calls are accepted any more. */
  readonly failed: string | null;
  /** Why rows do not reach the database just now. */
  readonly shippingError: string | null;
  /** Times the journal was brought to stable storage, and the milliseconds that took together. */
  readonly syncs: number;
  readonly syncMs: number;
}

export interface ReportingParts {
  readonly chain: { readonly chainId: string; readonly head: ChainHead };
  readonly journal: Journal;
  readonly rows: RowWriter;
  readonly shipping: Shipper;
}

export function ledgerStatus({ chain, journal, rows, shipping }: ReportingParts): LedgerStatus {
  const { seq, hash } = chain.head;
  const shipped = shipping.shippedHead;
  return {
    chainId: chain.chainId,
    headSeq: seq,
    headHash: hash,
    shippedSeq: shipped.seq,
    shippedHash: shipped.hash,
    openCalls: journal.openCalls,
    unshippedBytes: journal.unshippedBytes,
    unshippedRows: seq - shipped.seq,
    oldestUnshippedAt: rows.oldestWaiting(),
    failed: journal.failed,
    shippingError: shipping.failing,
    syncs: journal.syncs,
    syncMs: journal.syncMs,
  };
}
