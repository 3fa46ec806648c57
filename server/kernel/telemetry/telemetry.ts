import { VERDICTS } from "@gatehouse/ledger-format/verdict";
import { CallSums } from "./call-sums.ts";
import type { CallUse } from "./summed-use.ts";
import { AggregatorRegistry, Counter, Gauge, Histogram, type MetricObjectWithValues, type MetricValue, Registry } from "prom-client";
import { type CheckpointPlaces, type LedgerFigures, watchCheckpointsIn, watchLedgerIn } from "./ledger-metrics.ts";
import { type OtherProcess, watchProcessesIn, watchRealtimeIn } from "./process-metrics.ts";

/** All metrics of one process, in a form that can be sent to another. */
export type MetricFigures = readonly MetricObjectWithValues<MetricValue<string>>[];

export interface CallFigures extends CallUse {
  readonly proxySubtype: string;
  readonly status: number;
  readonly durationMs: number;
}

/** Prometheus metrics. Labels are classes of calls, never a key, user, tenant or anything a caller can choose. */
export interface Telemetry {
  callEnded(call: CallFigures): void;
  /** A call was refused because it could not be recorded. */
  callUnrecorded(): void;
  /** A request was answered without being a call, and left no row; `reason` is one of the gateway's codes. */
  answeredWithoutRow(reason: string): void;
  /** `isAcknowledged`: every finding is acknowledged. */
  chainVerified(verdict: string, isAcknowledged: boolean): void;
  /** A run of background work ended, successfully or not. */
  workerRan(worker: string, well: boolean): void;
  /** The control plane refused a request; `reason` is one of the gateway's codes. */
  adminRefused(reason: string): void;
  watchLedger(read: () => LedgerFigures): void;
  watchCheckpoints(read: () => CheckpointPlaces): void;
  /** For limit counters that processes share in a store; without a store the series does not exist. */
  watchCounters(isAway: () => boolean): void;
  watchRealtime(openSessions: () => number): void;
  /** For the process that starts the others. */
  watchProcesses(read: () => readonly OtherProcess[]): void;
  figures(): Promise<MetricFigures>;
  /** Includes the metrics of other processes, if given. */
  render(others?: readonly MetricFigures[]): Promise<string>;
  readonly contentType: string;
}

/** Refusals by the control plane that indicate guessing. */
const REASONS_OF_ATTACKS = ["unauthenticated", "login_failed", "too_many_logins", "forbidden"];

interface Series {
  readonly count: Counter.Internal;
  readonly time: Histogram.Internal<"proxy_type" | "proxy_subtype">;
  /** Durations, in seconds, of calls not yet added to either. */
  readonly waiting: number[];
}

const ADDED_AT_ONCE = 256;

/** `number` labels all metrics, if this is one of several processes scraped together. */
export function telemetry(number: number | null = null, registry: Registry = new Registry()): Telemetry {
  if (number !== null) registry.setDefaultLabels({ process: String(number) });
  const registers = [registry];
  const calls = new Counter({
    name: "gatehouse_calls_total",
    help: "Governed calls that ended, by type and HTTP status",
    labelNames: ["proxy_type", "proxy_subtype", "status"],
    registers,
  });
  const seconds = new Histogram({
    name: "gatehouse_call_duration_seconds",
    help: "Duration of calls, from arrival to the end of the answer",
    labelNames: ["proxy_type", "proxy_subtype"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300],
    registers,
  });
  const unrecorded = new Counter({
    name: "gatehouse_ledger_refused_total",
    help: "Calls refused because their audit row could not be written",
    registers,
  });
  const withoutRow = new Counter({
    name: "gatehouse_requests_without_row_total",
    help: "Requests answered without an audit row, by the code of the answer",
    labelNames: ["reason"],
    registers,
  });
  const verifications = new Counter({
    name: "gatehouse_ledger_verifications_total",
    help: "Verifications of audit chains, by verdict; acknowledged is true if all findings are",
    labelNames: ["verdict", "acknowledged"],
    registers,
  });
  // Created with 0, like those of refusals below: Prometheus sees no increase in a series that begins with 1, so an alert would miss the
  // first event.
  for (const verdict of VERDICTS) verifications.inc({ verdict }, 0);
  const adminRefusals = new Counter({
    name: "gatehouse_admin_refused_total",
    help: "Requests refused by the control plane, by reason",
    labelNames: ["reason"],
    registers,
  });
  for (const reason of REASONS_OF_ATTACKS) adminRefusals.labels(reason).inc(0);
  const workers = new Gauge({
    name: "gatehouse_worker_failing",
    help: "1 if the last run of this background job failed",
    labelNames: ["worker"],
    registers,
  });
  new Gauge({
    name: "gatehouse_resident_memory_bytes",
    help: "Resident memory of the gateway process",
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  const sums = new CallSums(registry);
  // Updating a series costs more than noting the value, so it is done for many calls at once, at the latest at a scrape.
  const series = new Map<string, Series>();
  function addUp({ count, time, waiting }: Series): void {
    count.inc(waiting.length);
    for (const one of waiting) time.observe(one);
    waiting.length = 0;
  }
  return {
    callEnded(call) {
      const { proxyType, proxySubtype, status, durationMs } = call;
      sums.add(call);
      const key = `${proxyType} ${proxySubtype} ${status}`;
      let found = series.get(key);
      if (found === undefined) {
        found = {
          count: calls.labels(proxyType, proxySubtype, String(status)),
          time: seconds.labels(proxyType, proxySubtype),
          waiting: [],
        };
        series.set(key, found);
      }
      if (found.waiting.push(durationMs / 1000) >= ADDED_AT_ONCE) addUp(found);
    },
    callUnrecorded: () => unrecorded.inc(),
    answeredWithoutRow: (reason) => withoutRow.labels(reason).inc(),
    workerRan: (worker, well) => workers.labels(worker).set(well ? 0 : 1),
    chainVerified: (verdict, isAcknowledged) => verifications.inc(isAcknowledged ? { verdict, acknowledged: "true" } : { verdict }),
    adminRefused: (reason) => adminRefusals.labels(reason).inc(),
    watchLedger: (read) => watchLedgerIn(registry, read),
    watchCheckpoints: (read) => watchCheckpointsIn(registry, read),
    watchCounters(isAway) {
      new Gauge({
        name: "gatehouse_limits_store_away",
        help: "1 while Valkey cannot be reached and calls under hard limits are refused",
        registers,
        collect() {
          this.set(isAway() ? 1 : 0);
        },
      });
    },
    watchRealtime: (openSessions) => watchRealtimeIn(registry, openSessions),
    watchProcesses: (read) => watchProcessesIn(registry, read),
    figures() {
      for (const one of series.values()) addUp(one);
      return registry.getMetricsAsJSON();
    },
    async render(others = []) {
      if (others.length > 0) return AggregatorRegistry.aggregate([await this.figures(), ...others] as unknown as object[]).metrics();
      for (const one of series.values()) addUp(one);
      return registry.metrics();
    },
    contentType: registry.contentType,
  };
}
