import type { ComparisonCase } from "../cases/case.ts";
import type { LoadClient } from "../load/load-client.ts";
import type { Endpoint, Target, TargetName } from "../targets/target.ts";
import type { Upstream } from "../upstream/upstream.ts";
import { diskSyncP50Ms } from "./disk-sync.ts";
import { CallsFailed, mustBeClean } from "./calls-failed.ts";
import { type Load, measureSlice, type Slice } from "./slice.ts";

/** A single caller would take minutes to make enough calls for the JIT compilers. */
const SETTLE_IN_CONNECTIONS = 64;

export interface Pace {
  readonly rounds: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
  /** Once per target, before its first case, to reach the steady state of a long-running process. */
  readonly settleInMs: number;
  /** Once per target and case, before the first round: warms compilers and caches. */
  readonly firstWarmUpMs: number;
}

export interface Round {
  readonly slices: Map<TargetName, Slice>;
  /** Median time of one append and sync. */
  readonly diskSyncMs: number;
}

export interface Comparison {
  readonly rounds: readonly Round[];
  /** Targets that answered wrongly, with the reason. They get no figures, because a benchmark of errors measures nothing. */
  readonly failed: ReadonlyMap<TargetName, string>;
}

/**
 * Measures the targets one at a time, round after round, with the upstream already answering as the case needs. A noisy neighbor then
 * affects all of them alike, and medians over the rounds drop outliers. Ends early at `deadline`, after at least one round.
 */
export async function compare(
  { connections, perSecond }: ComparisonCase,
  entrances: ReadonlyMap<Target, Endpoint>,
  client: LoadClient,
  upstream: Upstream,
  pace: Pace,
  deadline: number,
  /** Targets that have not served a case yet; those warmed up here are removed. */
  fresh: Set<Target>,
): Promise<Comparison> {
  const running = new Map(entrances);
  const failed = new Map<TargetName, string>();
  const rounds: Round[] = [];

  const eachTarget = async (stage: string, steps: (target: Target) => readonly Load[], keep?: Round["slices"]) => {
    for (const [target, entrance] of running) {
      try {
        for (const load of steps(target)) {
          const slice = mustBeClean(stage, await measureSlice(client, upstream, target, entrance, load));
          keep?.set(target.name, slice);
        }
      } catch (error) {
        if (!(error instanceof CallsFailed)) throw error;
        failed.set(target.name, error.message);
        running.delete(target);
        keep?.delete(target.name);
      }
    }
  };

  const loadFor = (durationMs: number): Load => ({ connections, durationMs, ...(perSecond !== undefined && { perSecond }) });
  const settleIn: Load = { connections: Math.max(connections, SETTLE_IN_CONNECTIONS), durationMs: pace.settleInMs };
  await eachTarget("first warm-up", (target) => [...(fresh.delete(target) ? [settleIn] : []), loadFor(pace.firstWarmUpMs)]);
  let longestMs = 0;
  for (let index = 1; index <= pace.rounds; index++) {
    const start = Date.now();
    if (rounds.length > 0 && start + longestMs > deadline) break;
    const slices: Round["slices"] = new Map();
    const syncBefore = await diskSyncP50Ms();
    // The figures of the measured period overwrite those of the warm-up.
    await eachTarget(`round ${index}`, () => [pace.warmUpMs, pace.measureMs].map(loadFor), slices);
    // The smaller of the two, so that a momentarily slow disk is not subtracted from a target's latency.
    rounds.push({ slices, diskSyncMs: Math.min(syncBefore, await diskSyncP50Ms()) });
    longestMs = Math.max(longestMs, Date.now() - start);
  }
  for (const { slices } of rounds) for (const name of failed.keys()) slices.delete(name);
  return { rounds, failed };
}
