import type { ChainHead } from "./chains/chain.ts";
import type { Journal } from "./journal/journal.ts";
import type { RowWriter } from "./row-writer.ts";
import type { Shipper } from "./shipping/shipper.ts";

export interface LedgerStatus {
  readonly chainId: string;
  readonly headSeq: number;
  readonly headHash: string;
  /** Head of the chain in the database, to hold a verification against. */
  readonly shippedSeq: number;
  readonly shippedHash: string;
  /** Calls begun but not sealed. */
  readonly openCalls: number;
  readonly unshippedBytes: number;
  readonly unshippedRows: number;
  /** ISO time of approximately the oldest row that waits for the database. */
  readonly oldestUnshippedAt: string | null;
  /** Why calls are no longer accepted; null while they are. */
  readonly failed: string | null;
  /** Why rows are currently not reaching the database; null while they are. */
  readonly shippingError: string | null;
  /** Number of journal syncs, and their total time in milliseconds. */
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
