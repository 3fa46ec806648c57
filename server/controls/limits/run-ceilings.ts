import type { BoundedMap } from "../../directory/bounded-map.ts";
import type { UsageTruth } from "../../directory/limits/usage-truth.ts";
import type { Clock } from "../../kernel/clock.ts";
import { type Refusal, refuse } from "../../kernel/errors.ts";
import type { AbortReason, Call } from "../../road/call.ts";
import { AT_CEILING } from "./limit-refusals.ts";
import { type CallPlan, withRun } from "./plans/plan.ts";
import { runBounds } from "./run-bounds.ts";

/** Whether anything bounds the run of a call. */
export function hasCeilings(call: Pick<Call, "scope" | "delegation">): boolean {
  return runBounds(call) !== null;
}

/** Timers count no further. */
const LONGEST_MS = 2 ** 31 - 1;

/** Ends the call with its run, where it is still under way then. */
function endAfter(call: Call, ms: number, refusal: Refusal): void {
  if (ms > LONGEST_MS) return;
  const timer = setTimeout(() => {
    call.endedBy = refusal;
    call.abort.abort("access_ended" satisfies AbortReason);
  }, ms);
  timer.unref();
  call.whenEnded.push(() => clearTimeout(timer));
}

/**
 * The ceilings of the run a call belongs to (interface 8.5): depth and duration are checked here, and a call that is under way
 * when the run has lasted so long is ended; the rest is counted with the other limits. A call that is a run of its own is held to them too.
 */
export class RunCeilings {
  private readonly truth: UsageTruth;
  private readonly clock: Clock;
  /** When each run began, milliseconds. */
  private readonly began: BoundedMap<string, number>;

  constructor(truth: UsageTruth, clock: Clock, began: BoundedMap<string, number>) {
    this.truth = truth;
    this.clock = clock;
    this.began = began;
  }

  /** Rejects when a run not seen before has to be looked up and cannot be. */
  async planIn(call: Call, base: CallPlan): Promise<CallPlan | Refusal> {
    const reached = await this.reachedBy(call);
    const bounds = runBounds(call);
    if (reached !== null || bounds === null) return reached ?? base;
    return withRun(base, call.row.root_task_id as string, bounds, call.row.trace_continuity === "minted");
  }

  /** The ceilings that are not counted: how deep and how long the run may go. Rejects as `planIn`. */
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
    const asked = (row.delegation_depth as number | null | undefined) ?? 0;
    if (depth !== undefined && asked > depth) return reached("max_delegation_depth_per_run", asked, depth);
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
    // The call in which a run reached its agents may have no row yet, and be the first of its run.
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
