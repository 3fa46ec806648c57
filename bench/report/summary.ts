import type { ComparisonCase } from "../cases/case.ts";
import type { Round } from "../measure/comparison.ts";
import type { Slice } from "../measure/slice.ts";
import { median, type Spread, spread } from "../measure/statistics.ts";
import { total } from "../processes/process-tree.ts";
import { TARGETS, type TargetName } from "../targets/target.ts";

/** One target in one case over all rounds. Ratios and differences are computed within each round, then summarized. */
export interface TargetSummary {
  readonly requestsPerSecond: Spread;
  readonly p50Ms: Spread;
  readonly p99Ms: Spread;
  readonly firstByteP50Ms: Spread;
  readonly addedP50Ms?: Spread;
  readonly addedP99Ms?: Spread;
  /** CPU seconds per 10,000 calls, without the database. */
  readonly cpu: Spread;
  readonly cpuOfDatabase: number;
  readonly peakMemoryMb: number;
  readonly peakMemoryOfDatabaseMb: number;
  readonly trailingMs: number;
  readonly throughputVsBare?: Spread;
  readonly cpuVsBare?: Spread;
  /** Relative to Gatehouse without a ledger. */
  readonly throughputVsUnrecorded?: Spread;
  readonly cpuVsUnrecorded?: Spread;
  readonly throughputVsPeer?: Spread;
  readonly cpuVsPeer?: Spread;
}

export interface CaseSummary {
  readonly rounds: number;
  readonly connections: number;
  readonly diskSyncP50Ms: Spread;
  /** For Gatehouse: added p50 minus one disk sync, per round. */
  readonly addedP50LessSyncMs?: Spread;
  readonly isStream: boolean;
  /** The load client's CPU seconds per 10,000 calls, and the utilization of its one thread with each target. */
  readonly clientCpu: number;
  readonly clientBusy: Partial<Record<TargetName, number>>;
  readonly targets: Partial<Record<TargetName, TargetSummary>>;
}

const rate = (slice: Slice): number => (slice.calls / slice.elapsedMs) * 1000;
const perTenThousand = (cpu: number, slice: Slice): number => (cpu / slice.calls) * 10_000;
const cpu = (slice: Slice): number => perTenThousand(total(slice.cpu), slice);

export function summarise(rounds: readonly Round[], { connections, call }: ComparisonCase): CaseSummary {
  const pairs = (
    name: TargetName,
    other: TargetName,
    compare: (slice: Slice, other: Slice, round: Round) => number,
  ): Spread | undefined => {
    const values = rounds.flatMap((round) => {
      const [mine, theirs] = [round.slices.get(name), round.slices.get(other)];
      return mine && theirs ? [compare(mine, theirs, round)] : [];
    });
    return values.length === 0 ? undefined : spread(values);
  };
  const only = <K extends string>(key: K, value: Spread | undefined) => (value ? ({ [key]: value } as Record<K, Spread>) : {});

  const summaryOf = (name: TargetName): TargetSummary | undefined => {
    const slices = rounds.flatMap((round) => round.slices.get(name) ?? []);
    if (slices.length === 0) return undefined;
    const over = (measure: (slice: Slice) => number) => spread(slices.map(measure));
    return {
      requestsPerSecond: over(rate),
      p50Ms: over((slice) => slice.p50Ms),
      p99Ms: over((slice) => slice.p99Ms),
      firstByteP50Ms: over((slice) => slice.firstByteP50Ms),
      cpu: over(cpu),
      cpuOfDatabase: over((slice) => perTenThousand(slice.cpu.database, slice)).median,
      peakMemoryMb: over((slice) => slice.peakMemory.own).max,
      peakMemoryOfDatabaseMb: over((slice) => slice.peakMemory.database).max,
      trailingMs: over((slice) => slice.trailingMs).median,
      ...(name !== "direct" && {
        ...only(
          "addedP50Ms",
          pairs(name, "direct", (a, b) => a.p50Ms - b.p50Ms),
        ),
        ...only(
          "addedP99Ms",
          pairs(name, "direct", (a, b) => a.p99Ms - b.p99Ms),
        ),
        ...only(
          "throughputVsBare",
          pairs(name, "bare", (a, b) => rate(a) / rate(b)),
        ),
        ...only(
          "cpuVsBare",
          pairs(name, "bare", (a, b) => cpu(a) / cpu(b)),
        ),
        ...only(
          "throughputVsUnrecorded",
          pairs(name, "unrecorded", (a, b) => rate(a) / rate(b)),
        ),
        ...only(
          "cpuVsUnrecorded",
          pairs(name, "unrecorded", (a, b) => cpu(a) / cpu(b)),
        ),
        ...only(
          "throughputVsPeer",
          pairs(name, "peer", (a, b) => rate(a) / rate(b)),
        ),
        ...only(
          "cpuVsPeer",
          pairs(name, "peer", (a, b) => cpu(a) / cpu(b)),
        ),
      }),
    };
  };

  const all = rounds.flatMap((round) => [...round.slices.values()]);
  return {
    rounds: rounds.length,
    connections,
    isStream: call.check.kind === "stream",
    diskSyncP50Ms: spread(rounds.map((round) => round.diskSyncMs)),
    ...only(
      "addedP50LessSyncMs",
      pairs("gatehouse", "direct", (a, b, round) => a.p50Ms - b.p50Ms - round.diskSyncMs),
    ),
    clientCpu: median(all.map((slice) => perTenThousand(slice.clientCpuSeconds, slice))),
    clientBusy: Object.fromEntries(
      TARGETS.flatMap((name) => {
        const busy = rounds
          .flatMap((round) => round.slices.get(name) ?? [])
          .map((slice) => (slice.clientCpuSeconds * 1000) / slice.elapsedMs);
        return busy.length === 0 ? [] : [[name, median(busy)] as const];
      }),
    ),
    targets: Object.fromEntries(
      TARGETS.flatMap((name) => [[name, summaryOf(name)]] as const).filter(([, summary]) => summary !== undefined),
    ),
  };
}
