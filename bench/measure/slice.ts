import type { JobResult } from "../load/job.ts";
import type { LoadClient } from "../load/load-client.ts";
import { cpuSeconds, memoryMb, type Split, total } from "../processes/process-tree.ts";
import type { Endpoint, Target } from "../targets/target.ts";
import type { Upstream } from "../upstream/upstream.ts";

/** One target under load for one period of one round. */
export interface Slice extends JobResult {
  readonly cpu: Split;
  readonly peakMemory: Split;
  /** How long the target kept working after the last answer. */
  readonly trailingMs: number;
}

export interface Load {
  readonly connections: number;
  readonly durationMs: number;
  readonly calls?: number;
  readonly perSecond?: number;
}

const SETTLE_STEP_MS = 150;
const SETTLE_LIMIT_MS = 6_000;

/**
 * Waits until the target is idle, so that deferred work (shipping rows, garbage collection) counts against it and not the next target. Idle
 * means less than 7% of one processor during a step.
 */
async function settled(pid: number): Promise<number> {
  const start = performance.now();
  let before = total(cpuSeconds(pid));
  while (performance.now() - start < SETTLE_LIMIT_MS) {
    await Bun.sleep(SETTLE_STEP_MS);
    const now = total(cpuSeconds(pid));
    if (now - before <= 0.01) return performance.now() - start - SETTLE_STEP_MS;
    before = now;
  }
  return performance.now() - start;
}

function watchMemory(pid: number): () => Split {
  const peak = { own: 0, database: 0 };
  const look = () => {
    const now = memoryMb(pid);
    peak.own = Math.max(peak.own, now.own);
    peak.database = Math.max(peak.database, now.database);
  };
  const timer = setInterval(look, 250);
  return () => {
    clearInterval(timer);
    look();
    return peak;
  };
}

export async function measureSlice(
  client: LoadClient,
  upstream: Upstream,
  target: Target,
  entrance: Endpoint,
  load: Load,
  settle = true,
): Promise<Slice> {
  await upstream.restartCount();
  const before = cpuSeconds(target.pid);
  const stopWatching = watchMemory(target.pid);
  const result = await client.run({ ...entrance, ...load });
  const trailingMs = settle ? await settled(target.pid) : 0;
  const after = cpuSeconds(target.pid);
  const peakMemory = stopWatching();

  const served = await upstream.served();
  const unserved = result.calls - served;
  return {
    ...result,
    ...(unserved > 0 && {
      errors: result.errors + unserved,
      messages: [...result.messages, `${unserved} answers never came from the upstream`],
    }),
    cpu: { own: after.own - before.own, database: after.database - before.database },
    peakMemory,
    trailingMs,
  };
}
