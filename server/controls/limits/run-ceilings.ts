import type { BoundedMap } from "../../directory/bounded-map.ts";
import type { UsageTruth } from "../../directory/limits/usage-truth.ts";
import type { Clock } from "../../kernel/clock.ts";
import { type Refusal, refuse } from "../../kernel/errors.ts";
import type { AbortReason, Call } from "../../road/call.ts";
import { AT_CEILING } from "./limit-refusals.ts";
import { type CallPlan, withRun } from "./plans/plan.ts";
import { runBounds } from "./run-bounds.ts";

/** Whether the call's run has ceilings. */
export function hasCeilings(call: Pick<Call, "scope" | "delegation">): boolean {
  return runBounds(call) !== null;
}

/** The longest delay of a timer, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Aborts the call after `ms`, when its run reaches its duration limit. */
function endAfter(call: Call, ms: number, refusal: Refusal): void {
  if (ms > MAX_TIMER_MS) return;
  const timer = setTimeout(() => {
    call.endedBy = refusal;
    call.abort.abort("access_ended" satisfies AbortReason);
  }, ms);
  timer.unref();
  call.whenEnded.push(() => clearTimeout(timer));
}

/**
 * The ceilings of a call's run (interface 8.5). Depth and duration are checked here, and a call in flight is aborted when its run reaches
 * the duration limit; the other ceilings are counted with the other limits. A call that is a run of its own has the same ceilings.
 */
export class RunCeilings {
  private readonly truth: UsageTruth;
  private readonly clock: Clock;
  /** When each run began (ms). */
  private readonly began: BoundedMap<string, number>;

  constructor(truth: UsageTruth, clock: Clock, began: BoundedMap<string, number>) {
    this.truth = truth;
    this.clock = clock;
    this.began = began;
  }

  /** The plan with the run's ceilings, or a refusal. Rejects if a run that is not cached cannot be looked up. */
  async planIn(call: Call, base: CallPlan): Promise<CallPlan | Refusal> {
    const reached = await this.reachedBy(call);
    const bounds = runBounds(call);
    if (reached !== null || bounds === null) return reached ?? base;
    return withRun(base, call.row.root_task_id as string, bounds, call.row.trace_continuity === "minted");
  }

  /** Checks depth and duration, which are not counted; null if neither is reached. Rejects as `planIn` does. */
  async reachedBy(call: Call): Promise<Refusal | null> {
    const bounds = runBounds(call);
    if (bounds === null) return null;
    const { ceilings, setBy } = bounds;
    const { row } = call;
    const rootTaskId = row.root_task_id as string;
    const depth = ceilings.get("max_delegation_depth_per_run") as number | undefined;
    const reached = (limitType: string, current: number, max: number) =>
      refuse("run_ceiling_reached", `The run's ceiling ${limitType} (${current} of ${max}) is reached.`, {
        headers: AT_CEILING,
        extra: {
          usage_limit: {
            group_id: setBy(limitType).id,
            group_name: setBy(limitType).name,
            limit_type: limitType,
            current_usage: current,
            max_limit: max,
          },
        },
      });
    const depthOfCall = (row.delegation_depth as number | null | undefined) ?? 0;
    if (depth !== undefined && depthOfCall > depth) return reached("max_delegation_depth_per_run", depthOfCall, depth);
    const seconds = ceilings.get("max_duration_seconds_per_run") as number | undefined;
    if (seconds !== undefined) {
      const passedMs = this.now() - (await this.beganAt(call, rootTaskId));
      const passed = Math.floor(passedMs / 1000);
      if (passed >= seconds && passed > 0) return reached("max_duration_seconds_per_run", passed, seconds);
      endAfter(call, Math.max(1, seconds) * 1000 - passedMs, reached("max_duration_seconds_per_run", seconds, seconds));
    }
    return null;
  }

  private async beganAt(call: Call, rootTaskId: string): Promise<number> {
    // The call that delegated to an agent may have no row yet, so the run's start is also known from the first hop.
    const hop = call.delegation?.hops[0];
    const reached = hop === undefined ? this.now() : hop.at * 1000;
    if (hop === undefined && call.row.trace_continuity === "minted") return reached;
    let began = this.began.get(rootTaskId);
    if (began === undefined) {
      began = (await this.truth.run(call.scope?.tenant.id as string, rootTaskId)).started ?? reached;
      this.began.set(rootTaskId, began);
    }
    return Math.min(began, reached);
  }

  private now(): number {
    return this.clock.micros() / 1000;
  }
}
