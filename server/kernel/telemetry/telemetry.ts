import { VERDICTS } from "@gatehouse/ledger-format/verdict";
import { CallSums } from "./call-sums.ts";
import type { CallUse } from "./summed-use.ts";
import { AggregatorRegistry, Counter, Gauge, Histogram, type MetricObjectWithValues, type MetricValue, Registry } from "prom-client";
import { type CheckpointPlaces, type LedgerFigures, watchCheckpointsIn, watchLedgerIn } from "./ledger-metrics.ts";
import { type OtherProcess, watchProcessesIn } from "./process-metrics.ts";

/** All metrics of one process, as another one can be told them. */
export type MetricFigures = readonly MetricObjectWithValues<MetricValue<string>>[];

export interface CallFigures extends CallUse {
  readonly proxySubtype: string;
  readonly status: number;
  readonly durationMs: number;
}

/** Prometheus metrics. Labels are classes of calls, never a key, a user, a tenant or anything a caller can invent. */
export interface Telemetry {
  callEnded(call: CallFigures): void;
  /** A call was refused because it could not be recorded. */
  callUnrecorded(): void;
  /** A request was answered without being a call, and left no row; `reason` is a code of the gateway's own. */
  answeredWithoutRow(reason: string): void;
  /** `isAcknowledged`: somebody knows of each thing it found. */
  chainVerified(verdict: string, isAcknowledged: boolean): void;
  /** A run of background work ended, well or by an error. */
  workerRan(worker: string, well: boolean): void;
  /** The control plane refused a request; `reason` is a code of the gateway's own. */
  adminRefused(reason: string): void;
  watchLedger(read: () => LedgerFigures): void;
  watchCheckpoints(read: () => CheckpointPlaces): void;
  /** Of counters that processes share in a store; without one there is no such series. */
  watchCounters(isAway: () => boolean): void;
  /** Of the other processes, in the one that starts them. */
  watchProcesses(read: () => readonly OtherProcess[]): void;
  figures(): Promise<MetricFigures>;
  /** With those of other processes, where there are any. */
  render(others?: readonly MetricFigures[]): Promise<string>;
  readonly contentType: string;
}

/** Why the control plane refuses whoever guesses at it. */
const REASONS_OF_ATTACKS = ["unauthenticated", "login_failed", "too_many_logins", "forbidden"];

interface Series {
  readonly count: Counter.Internal;
  readonly time: Histogram.Internal<"proxy_type" | "proxy_subtype">;
  /** Durations, in seconds, of calls that are in neither yet. */
  readonly waiting: number[];
}

const ADDED_AT_ONCE = 256;

/** `number` is a label of everything, where this is one of several that are looked at together. */
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
  // There from the start, as those of refusals below: of a series that begins with 1, Prometheus sees no increase, and an alert would
  // miss the first.
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
  // Adding to a series costs more than remembering what to add: it is done for many calls at once, at the latest when
  // somebody looks.
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
