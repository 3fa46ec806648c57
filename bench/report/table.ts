import type { Spread } from "../measure/statistics.ts";
import type { CaseSummary, TargetSummary } from "./summary.ts";

const digits = (value: number): number => (Math.abs(value) >= 1000 ? 0 : Math.abs(value) >= 100 ? 1 : 2);
const figure = (value: number | undefined): string => (value === undefined || Number.isNaN(value) ? "-" : value.toFixed(digits(value)));
const range = (value: Spread | undefined): string => (value ? `${figure(value.median)} (${figure(value.min)}..${figure(value.max)})` : "-");
const times = (value: Spread | undefined): string =>
  value ? `${value.median.toFixed(2)} (${value.min.toFixed(2)}..${value.max.toFixed(2)})` : "-";

type Column = readonly [heading: string, cell: (summary: TargetSummary) => string];

const LOAD: readonly Column[] = [
  ["requests/s", (t) => range(t.requestsPerSecond)],
  ["p50 ms", (t) => range(t.p50Ms)],
  ["p99 ms", (t) => range(t.p99Ms)],
  ["added p50", (t) => figure(t.addedP50Ms?.median)],
  ["added p99", (t) => figure(t.addedP99Ms?.median)],
];

/** Time to the first byte of the body, which for a stream differs from the end. */
const LOAD_OF_STREAM: readonly Column[] = [...LOAD, ["first ms", (t) => figure(t.firstByteP50Ms.median)]];

const withDatabase = (own: number, database: number, show: (value: number) => string): string =>
  database > 0.005 ? `${show(own + database)} = ${show(own)} + ${show(database)}` : show(own);

const COST: readonly Column[] = [
  ["CPU s/10k = own + database", (t) => withDatabase(t.cpu.median - t.cpuOfDatabase, t.cpuOfDatabase, figure)],
  ["min..max", (t) => `${figure(t.cpu.min)}..${figure(t.cpu.max)}`],
  ["peak MB = own + database", (t) => withDatabase(t.peakMemoryMb, t.peakMemoryOfDatabaseMb, (value) => value.toFixed(0))],
  ["trailing ms", (t) => t.trailingMs.toFixed(0)],
  ["req/s vs bare", (t) => times(t.throughputVsBare)],
  ["CPU vs bare", (t) => times(t.cpuVsBare)],
  ["req/s vs peer", (t) => times(t.throughputVsPeer)],
  ["CPU vs peer", (t) => times(t.cpuVsPeer)],
];

const COST_OF_LEDGER: readonly Column[] = [
  ["req/s vs unrecorded", (t) => times(t.throughputVsUnrecorded)],
  ["CPU vs unrecorded", (t) => times(t.cpuVsUnrecorded)],
];

function table(columns: readonly Column[], targets: CaseSummary["targets"]): string {
  const rows = [
    ["", ...columns.map(([heading]) => heading)],
    ...Object.entries(targets).map(([name, summary]) => [name, ...columns.map(([, cell]) => cell(summary))]),
  ];
  const widths = columns.map((_, index) => Math.max(...rows.map((row) => (row[index + 1] as string).length)));
  return rows
    .map(
      (row) =>
        `  ${(row[0] as string).padEnd(12)}${row
          .slice(1)
          .map((cell, index) => cell.padStart((widths[index] as number) + 2))
          .join("")}`,
    )
    .join("\n");
}

export function showCase(name: string, summary: CaseSummary): string {
  // With more callers, calls wait for the processor, and subtracting a disk sync is meaningless.
  const less = summary.connections === 1 ? summary.addedP50LessSyncMs : undefined;
  return [
    `\n${name}: ${summary.connections} connections, median (min..max) of ${summary.rounds} rounds`,
    table(summary.isStream ? LOAD_OF_STREAM : LOAD, summary.targets),
    table(COST, summary.targets),
    ...("unrecorded" in summary.targets ? [table(COST_OF_LEDGER, summary.targets)] : []),
    `  disk sync p50 ${range(summary.diskSyncP50Ms)} ms${less ? `, gatehouse added p50 less one sync ${range(less)} ms` : ""}`,
    `  load client ${figure(summary.clientCpu)} CPU s/10k; its thread was busy ${Object.entries(summary.clientBusy)
      .map(([target, share]) => `${(share * 100).toFixed(0)} % with ${target}`)
      .join(", ")}`,
  ].join("\n");
}
