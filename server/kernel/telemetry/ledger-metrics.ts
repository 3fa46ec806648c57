import { Counter, Gauge, type Registry } from "prom-client";

/** The state of the ledger, read at scrape time. */
export interface LedgerFigures {
  readonly openCalls: number;
  readonly unshippedBytes: number;
  readonly unshippedRows: number;
  readonly oldestUnshippedSeconds: number;
  readonly headSeq: number;
  /** How far ahead of the wall clock rows are dated. */
  readonly clockAheadSeconds: number;
  /** Since the start of the process. */
  readonly writtenRows: number;
  readonly syncs: number;
  readonly syncSeconds: number;
  /** Whether rows reach the database. */
  readonly shipping: boolean;
  readonly failed: boolean;
}

/** Whether checkpoints fail to reach each external place they are kept in. */
export type CheckpointPlaces = Readonly<Partial<Record<"file" | "bucket", boolean>>>;

export function watchCheckpointsIn(registry: Registry, read: () => CheckpointPlaces): void {
  new Gauge({
    name: "gatehouse_ledger_checkpoints_failing",
    help: "1 while signed checkpoints do not reach their file or bucket, and after a different checkpoint was found in place of one",
    labelNames: ["place"],
    registers: [registry],
    collect() {
      for (const [place, failing] of Object.entries(read())) this.labels(place).set(failing ? 1 : 0);
    },
  });
}

export function watchLedgerIn(registry: Registry, read: () => LedgerFigures): void {
  const registers = [registry];
  const counter = (name: string, help: string, value: (figures: LedgerFigures) => number) =>
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(value(read()));
      },
    });
  const gauge = (name: string, help: string, value: (figures: LedgerFigures) => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(value(read()));
      },
    });
  gauge("gatehouse_ledger_open_calls", "Calls that have begun and have no complete row yet", (figures) => figures.openCalls);
  gauge("gatehouse_ledger_unshipped_bytes", "Journal bytes not yet in the database", (figures) => figures.unshippedBytes);
  gauge("gatehouse_ledger_unshipped_rows", "Audit rows not yet in the database", (figures) => figures.unshippedRows);
  gauge(
    "gatehouse_ledger_oldest_unshipped_seconds",
    "Age of the oldest audit row not yet in the database",
    (figures) => figures.oldestUnshippedSeconds,
  );
  gauge("gatehouse_ledger_head_seq", "Position of the newest row of this process's chain", (figures) => figures.headSeq);
  gauge(
    "gatehouse_ledger_clock_ahead_seconds",
    "Seconds by which rows are dated ahead of the machine's clock, after it was set back",
    (figures) => figures.clockAheadSeconds,
  );
  counter("gatehouse_ledger_rows_written_total", "Audit rows written by this process", (figures) => figures.writtenRows);
  counter("gatehouse_ledger_syncs_total", "Number of times the journal was synced to stable storage", (figures) => figures.syncs);
  counter("gatehouse_ledger_sync_seconds_total", "Seconds spent syncing the journal to stable storage", (figures) => figures.syncSeconds);
  gauge("gatehouse_ledger_shipping", "0 while rows do not reach the database", (figures) => (figures.shipping ? 1 : 0));
  gauge("gatehouse_ledger_failed", "1 if the journal can no longer be written and calls are refused", (figures) =>
    figures.failed ? 1 : 0,
  );
}
