import { readFileSync, writeFileSync } from "node:fs";
import type { SoakResult } from "../measure/soak.ts";
import type { CaseSummary } from "./summary.ts";

/** Bounds on Gatehouse's figures in a case; each is optional. */
export interface Bounds {
  readonly throughputVsBareMin?: number;
  readonly cpuVsBareMax?: number;
  readonly addedP50LessSyncMsMax?: number;
  readonly addedP99MsMax?: number;
  /** MB of growth per sample in the last quarter of a soak. */
  readonly lastQuarterSlopeMbMax?: number;
}

export type Results = Readonly<Record<string, CaseSummary | SoakResult>>;

interface Baseline {
  readonly bounds: Record<string, Bounds>;
  readonly last: { date: string; machine: string; cases: Record<string, Record<string, number>> } | null;
}

export interface BaselineVerdict {
  readonly pass: boolean;
  readonly line: string;
}

const file = new URL("../baseline.json", import.meta.url);

export function readBaseline(): Baseline {
  return JSON.parse(readFileSync(file, "utf8")) as Baseline;
}

const isSoak = (result: CaseSummary | SoakResult): result is SoakResult => "readings" in result;

/** The figures of a case that bounds apply to, keyed by the bound's name without Min or Max. */
function judged(result: CaseSummary | SoakResult): Record<string, number | undefined> {
  if (isSoak(result)) return { lastQuarterSlopeMb: result.lastQuarterSlope };
  const { gatehouse } = result.targets;
  return {
    throughputVsBare: gatehouse?.throughputVsBare?.median,
    cpuVsBare: gatehouse?.cpuVsBare?.median,
    addedP50LessSyncMs: result.addedP50LessSyncMs?.median,
    addedP99Ms: gatehouse?.addedP99Ms?.median,
  };
}

const round = (value: number): number => Number(value.toPrecision(3));

export function compareWithBaseline(results: Results, { bounds, last }: Baseline): BaselineVerdict[] {
  return Object.entries(results).flatMap(([name, result]) => {
    const figures = judged(result);
    return Object.entries(bounds[name] ?? {}).map(([bound, limit]: [string, number]) => {
      const isMinimum = bound.endsWith("Min");
      const figureName = bound.slice(0, -3);
      const value = figures[figureName];
      const before = last?.cases[name]?.[figureName];
      // A missing figure is a failure, or it would look like a pass.
      const pass = value !== undefined && Number.isFinite(value) && (isMinimum ? value >= limit : value <= limit);
      const shown = value === undefined ? "not measured" : `${round(value)}`;
      return {
        pass,
        line: `${pass ? "PASS" : "FAIL"}  ${name}  ${figureName} ${shown}, ${isMinimum ? "at least" : "at most"} ${limit}${before === undefined ? "" : ` (last recorded ${before})`}`,
      };
    });
  });
}

/** Keeps the bounds and replaces the figures of the cases that ran. */
export function recordFigures(results: Results, date: string, machine: string): void {
  const { bounds, last } = readBaseline();
  const figures = Object.entries(results).map(([name, result]) => {
    const all = isSoak(result)
      ? {
          ...judged(result),
          firstQuarterSlopeMb: result.firstQuarterSlope,
          requestsPerSecond: result.requestsPerSecond,
          peakMb: result.peakMb,
        }
      : {
          ...judged(result),
          diskSyncP50Ms: result.diskSyncP50Ms.median,
          ...Object.fromEntries(
            Object.entries(result.targets).flatMap(([target, summary]) => [
              [`${target} requestsPerSecond`, summary.requestsPerSecond.median],
              [`${target} p50Ms`, summary.p50Ms.median],
              [`${target} p99Ms`, summary.p99Ms.median],
              [`${target} cpuSecondsPer10k`, summary.cpu.median],
              [`${target} peakMb`, summary.peakMemoryMb + summary.peakMemoryOfDatabaseMb],
            ]),
          ),
        };
    return [
      name,
      Object.fromEntries(Object.entries(all).flatMap(([key, value]) => (value === undefined ? [] : [[key, round(value)]]))),
    ] as const;
  });
  const recorded: Baseline = { bounds, last: { date, machine, cases: { ...last?.cases, ...Object.fromEntries(figures) } } };
  writeFileSync(file, `${JSON.stringify(recorded, null, 2)}\n`);
}
