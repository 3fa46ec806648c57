import { Counter, Gauge, Histogram, Registry } from "prom-client";

/** Figures of what the ledger is doing, read at scrape time. */
export interface LedgerFigures {
  readonly openCalls: number;
  readonly unshippedBytes: number;
  readonly unshippedRows: number;
  readonly oldestUnshippedSeconds: number;
  readonly headSeq: number;
  readonly failed: boolean;
}

export interface CallFigures {
  readonly proxyType: string;
  readonly proxySubtype: string;
  readonly status: number;
  readonly durationMs: number;
}

/** Prometheus metrics. Labels are classes of calls, never a key, a user, a tenant or anything a caller can invent. */
export interface Telemetry {
  callEnded(call: CallFigures): void;
  watchLedger(read: () => LedgerFigures): void;
  render(): Promise<string>;
  readonly contentType: string;
}

export function telemetry(): Telemetry {
  const registry = new Registry();
  const registers = [registry];
  const calls = new Counter({ name: "gatehouse_calls_total", help: "Governed calls ended, by what was called and the status sent", labelNames: ["proxy_type", "proxy_subtype", "status"], registers });
  const seconds = new Histogram({ name: "gatehouse_call_duration_seconds", help: "From arrival to the end of the answer", labelNames: ["proxy_type", "proxy_subtype"], buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300], registers });
  new Gauge({ name: "gatehouse_resident_memory_bytes", help: "Resident memory of the gateway process", registers, collect() { this.set(process.memoryUsage.rss()); } });
  // Finding a series by its labels costs more than adding to it, and there are few: each is looked up once.
  const series = new Map<string, { count: Counter.Internal; time: Histogram.Internal<"proxy_type" | "proxy_subtype"> }>();
  return {
    callEnded({ proxyType, proxySubtype, status, durationMs }) {
      const key = `${proxyType} ${proxySubtype} ${status}`;
      let found = series.get(key);
      if (found === undefined) {
        found = { count: calls.labels(proxyType, proxySubtype, String(status)), time: seconds.labels(proxyType, proxySubtype) };
        series.set(key, found);
      }
      found.count.inc();
      found.time.observe(durationMs / 1000);
    },
    watchLedger(read) {
      const gauge = (name: string, help: string, value: (figures: LedgerFigures) => number) => new Gauge({ name, help, registers, collect() { this.set(value(read())); } });
      gauge("gatehouse_ledger_open_calls", "Calls begun and not yet sealed", (figures) => figures.openCalls);
      gauge("gatehouse_ledger_unshipped_bytes", "Journal bytes not yet in the database", (figures) => figures.unshippedBytes);
      gauge("gatehouse_ledger_unshipped_rows", "Audit rows not yet in the database", (figures) => figures.unshippedRows);
      gauge("gatehouse_ledger_oldest_unshipped_seconds", "Age of the oldest audit row not yet in the database", (figures) => figures.oldestUnshippedSeconds);
      gauge("gatehouse_ledger_head_seq", "Position of the newest row of this process's chain", (figures) => figures.headSeq);
      gauge("gatehouse_ledger_failed", "1 when the journal can no longer be written and calls are refused", (figures) => (figures.failed ? 1 : 0));
    },
    render: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
