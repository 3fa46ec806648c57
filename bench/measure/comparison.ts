import type { ComparisonCase } from "../cases/case.ts";
import type { LoadClient } from "../load/load-client.ts";
import type { Endpoint, Target, TargetName } from "../targets/target.ts";
import type { Upstream } from "../upstream/upstream.ts";
import { diskSyncP50Ms } from "./disk-sync.ts";
import { CallsFailed, mustBeClean } from "./calls-failed.ts";
import { type Load, measureSlice, type Slice } from "./slice.ts";

/** A lone caller would take minutes to make as many calls as compilers want to see. */
const SETTLE_IN_CONNECTIONS = 64;

export interface Pace {
  readonly rounds: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
  /** Once per target, before its first case: a process that is told to serve for weeks is measured as one that has begun to. */
  readonly settleInMs: number;
  /** Once per target and case, before the first round: compilers and caches. */
  readonly firstWarmUpMs: number;
}

export interface Round {
  readonly slices: Map<TargetName, Slice>;
  /** Median of one append and sync. */
  readonly diskSyncMs: number;
}

export interface Comparison {
  readonly rounds: readonly Round[];
  /** Targets that answered wrongly, and how: they have no figures, because a benchmark of errors measures nothing. */
  readonly failed: ReadonlyMap<TargetName, string>;
}

/**
 * Runs the targets in turns, the upstream already answering as the case wants it, round after round, each alone while it is measured. A
 * noisy neighbour then disturbs all of them alike, and medians over the rounds drop what it hit once. Ends early, with at least one
 * round, at `deadline`.
 */
export async function compare(
  { connections, perSecond }: ComparisonCase,
  entrances: ReadonlyMap<Target, Endpoint>,
  client: LoadClient,
  upstream: Upstream,
  pace: Pace,
  deadline: number,
  /** Targets that have served no case yet; those this one warms up are taken out. */
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
    // The warm-up's figures are overwritten by those of the stretch that counts.
    await eachTarget(`round ${index}`, () => [pace.warmUpMs, pace.measureMs].map(loadFor), slices);
    // The smaller of two: what a disk was slow for a moment must not be taken off a target's latency.
    rounds.push({ slices, diskSyncMs: Math.min(syncBefore, await diskSyncP50Ms()) });
    longestMs = Math.max(longestMs, Date.now() - start);
  }
  for (const { slices } of rounds) for (const name of failed.keys()) slices.delete(name);
  return { rounds, failed };
}
