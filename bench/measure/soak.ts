import type { SoakCase } from "../cases/case.ts";
import type { LoadClient } from "../load/load-client.ts";
import { memoryMb, type Split } from "../processes/process-tree.ts";
import type { Endpoint, Target } from "../targets/target.ts";
import type { Upstream } from "../upstream/upstream.ts";
import { CallsFailed, mustBeClean } from "./calls-failed.ts";
import { measureSlice } from "./slice.ts";
import { slope, spread } from "./statistics.ts";

export interface SoakResult {
  readonly calls: number;
  readonly requestsPerSecond: number;
  readonly readings: readonly Split[];
  /** MB per `sampleEvery` calls, for the target without its database. */
  readonly firstQuarterSlope: number;
  readonly lastQuarterSlope: number;
  readonly peakMb: number;
}

/** Takes several readings, because a garbage collector frees memory in steps. */
async function reading(pid: number): Promise<Split> {
  const looks: Split[] = [];
  for (let index = 0; index < 5; index++) {
    looks.push(memoryMb(pid));
    await Bun.sleep(20);
  }
  return { own: spread(looks.map((look) => look.own)).median, database: spread(looks.map((look) => look.database)).median };
}

export async function soak(
  soakCase: SoakCase,
  target: Target,
  entrance: Endpoint,
  client: LoadClient,
  upstream: Upstream,
  calls: number,
  deadline: number,
): Promise<SoakResult> {
  const { connections, sampleEvery } = soakCase;
  const readings: Split[] = [];
  let done = 0;
  let busyMs = 0;
  let peakMb = 0;
  while (done < calls) {
    const left = deadline - Date.now();
    if (left <= 0) throw new CallsFailed(`${done} of ${calls} calls in the time there is`);
    const load = { connections, durationMs: left, calls: sampleEvery };
    const slice = mustBeClean(`after ${done} calls`, await measureSlice(client, upstream, target, entrance, load, false));
    done += slice.calls;
    busyMs += slice.elapsedMs;
    peakMb = Math.max(peakMb, slice.peakMemory.own);
    readings.push(await reading(target.pid));
    console.log(`  ${done} calls, ${readings.at(-1)?.own.toFixed(0)} MB`);
  }
  const own = readings.map((split) => split.own);
  const quarter = Math.max(2, Math.floor(own.length / 4));
  return {
    calls: done,
    requestsPerSecond: (done / busyMs) * 1000,
    readings,
    firstQuarterSlope: slope(own.slice(0, quarter)),
    lastQuarterSlope: slope(own.slice(-quarter)),
    peakMb,
  };
}
