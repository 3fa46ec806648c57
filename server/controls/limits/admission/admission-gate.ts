import { reasonOf, type Refusal, refuse } from "../../../kernel/errors.ts";
import type { Log } from "../../../kernel/log.ts";
import { arrivalOf, type Call } from "../../../road/call.ts";
import type { GroupScope } from "../../../directory/snapshot.ts";
import type { Admission, Admitted } from "./admission-answer.ts";
import type { LimitedCall } from "../limited-call.ts";
import type { Counters, Plan, Reservation } from "../counters/counters.ts";
import type { InputCounts } from "../plans/input-counts.ts";
import { heldOf } from "../counters/window-amounts.ts";
import type { ThresholdAlerts } from "../threshold-alerts.ts";
import { denialRefusal, quotaRefusal, rateOf } from "../limit-refusals.ts";
import { AdmissionQueues } from "./admission-queues.ts";
import type { Warming } from "../counters/warming.ts";
import { affordableOutput, demandOf } from "../plans/worst-case.ts";

export interface AdmissionGateParts {
  readonly counters: Counters;
  readonly warming: Warming;
  readonly crossings: ThresholdAlerts;
  readonly log: Log;
  /** Whether calls without hard limits are refused or go uncounted while the counters are unreachable. */
  readonly whenAway: "closed" | "open";
  /** Longest time, in milliseconds, that a call waits for calls in flight to settle. */
  readonly waitMs: number;
  /** Milliseconds. */
  readonly now: () => number;
  /** Releases what a call holds; usage is counted if its answer is in. False if the call still needs its hold. */
  readonly grantPlace: (call: Call) => boolean | Promise<boolean>;
  readonly reservationOf: (call: Call) => Reservation | undefined;
  readonly counts: Pick<InputCounts, "boundOf">;
  /** Whether jobs, which may run for hours, hold part of the window with this key. */
  readonly heldByJobs: (key: string) => boolean;
}

/** Longest wait, in milliseconds, of a call whose window is partly held by jobs. */
const BEHIND_JOBS_MS = 1_000;

/** Receives the usage of each window and the level of each bucket after admission. */
type Held = (found: Admitted) => void;

/**
 * Admits calls to the counters: immediately if possible, otherwise in a FIFO queue per window, until the call is
 * admitted, is denied or has waited for too long.
 */
export class AdmissionGate {
  private readonly lines: AdmissionQueues;
  private readonly parts: AdmissionGateParts;

  constructor(parts: AdmissionGateParts) {
    this.parts = parts;
    this.lines = new AdmissionQueues(parts.counters.lookAgainMs);
  }

  /**
   * Null if the call may proceed, otherwise the refusal. On admission `held` gets the new amounts; it is not called if
   * the call goes uncounted.
   */
  pass(limited: LimitedCall, held: Held): Refusal | null | Promise<Refusal | null> {
    const key = this.lines.empty || limited.ahead !== null ? null : this.lineOf(limited);
    const outcome = this.tryOnce(limited, key !== null);
    // Fast path: all counters are in memory and nobody is queued, so nothing is awaited.
    if (key === null && !(outcome instanceof Promise) && outcome.kind === "admitted") {
      held(outcome);
      return null;
    }
    return this.passSlowly(limited, held, outcome, key);
  }

  released({ plan, demand }: Reservation): void {
    if (!this.lines.empty) for (const window of plan.windows) if (heldOf(window, demand) > 0) this.lines.released(window.key);
  }

  private async passSlowly(
    limited: LimitedCall,
    held: Held,
    first: Admission | Promise<Admission>,
    behind: string | null,
  ): Promise<Refusal | null> {
    const { call, plan, ahead } = limited;
    const began = performance.now();
    let until = began + (ahead?.ms ?? this.parts.waitMs);
    let lender = ahead?.lender ?? null;
    let ticket: ReturnType<AdmissionQueues["join"]> | null = null;
    let probed = behind !== null;
    let pending = first;
    try {
      for (;;) {
        const outcome = pending instanceof Promise ? await pending : pending;
        if (outcome.kind === "admitted" && !probed) {
          held(outcome);
          return null;
        }
        if (outcome.kind === "cold") {
          await this.parts.warming.warm((call.scope as GroupScope).tenant, plan, outcome.windows, arrivalOf(call));
        } else if (outcome.kind === "denied") {
          if (!(await this.tighten(limited, outcome)) && !this.shrink(limited, outcome)) return this.denied(limited, outcome);
        } else if (lender !== null) {
          const lent = lender;
          lender = null;
          const given = this.parts.grantPlace(lent);
          if (given instanceof Promise ? await given : given) {
            // Try before any queued call is told of the release.
            pending = this.tryOnce(limited, probed);
            const reservation = this.parts.reservationOf(lent);
            if (reservation !== undefined) this.released(reservation);
            continue;
          }
        } else {
          const key = outcome.kind === "held" ? outcome.key : (behind as string);
          if (this.parts.heldByJobs(key)) until = Math.min(until, began + BEHIND_JOBS_MS);
          if (this.lines.full) return this.heldRefusal(limited, key);
          const joined = ticket === null || ticket.key !== key;
          if (joined) {
            if (ticket !== null) this.lines.leave(ticket);
            ticket = this.lines.join(key, ahead !== null);
          }
          const turn = this.lines.wait(ticket as NonNullable<typeof ticket>, call.abort.signal, until - performance.now());
          // A release before the queue existed woke nobody, so the first in the queue retries at once.
          if (joined) this.lines.released(key);
          if ((await turn) === "gone") return this.heldRefusal(limited, key);
          probed = false;
        }
        pending = this.tryOnce(limited, probed);
      }
    } catch (error) {
      return this.away(call, error, plan);
    } finally {
      if (ticket !== null) this.lines.leave(ticket);
    }
  }

  private tryOnce({ id, plan, demand }: LimitedCall, probe: boolean): Admission | Promise<Admission> {
    return this.parts.counters.admit(id, plan, demand, probe);
  }

  /** The key of a window of this call for which calls are already queued; this call must not overtake them. */
  private lineOf({ plan, demand }: LimitedCall): string | null {
    return plan.windows.find((window) => heldOf(window, demand) > 0 && this.lines.has(window.key))?.key ?? null;
  }

  /**
   * Counts the request's tokens if the bound from its bytes does not fit, since the exact count may. At most once per
   * call. True if the hold was reduced.
   */
  private async tighten(limited: LimitedCall, { denial }: Admission & { kind: "denied" }): Promise<boolean> {
    const { worst, plan, model, outputTokens } = limited;
    if (worst === null || model === null || limited.counted !== null || denial.by !== "window") return false;
    const { measure } = plan.windows[denial.index] as Plan["windows"][number];
    if (measure !== "tokens" && measure !== "micros") return false;
    const bound = await this.parts.counts.boundOf(limited);
    if (bound === null) return false;
    limited.counted = bound.counted;
    limited.worst = { ...worst, inputTokens: bound.inputTokens };
    limited.demand = demandOf(model, limited.worst, outputTokens);
    return true;
  }

  /** If the caller set no output bound, reduces the output to what the quota still covers, if worth a call. True if it was reduced. */
  private shrink(limited: LimitedCall, { denial }: Admission & { kind: "denied" }): boolean {
    const { worst, plan, model } = limited;
    if (worst === null || model === null || !worst.outputIsOurs || denial.by !== "window") return false;
    const window = plan.windows[denial.index] as Plan["windows"][number];
    if (window.measure !== "tokens" && window.measure !== "micros") return false;
    const output = affordableOutput(model, worst, window.measure, window.limit - denial.spent);
    if (output === null || output >= limited.outputTokens) return false;
    limited.outputTokens = output;
    limited.demand = demandOf(model, worst, output);
    return true;
  }

  private denied({ call, plan }: LimitedCall, { denial }: Admission & { kind: "denied" }): Refusal {
    const now = this.parts.now();
    if (denial.by === "window") {
      const window = plan.windows[denial.index] as Plan["windows"][number];
      this.parts.crossings.refused(plan, denial.index, denial.spent);
      call.row.pre_action_state = {
        kind: "usage_limit",
        limit_type: window.limitType,
        group_id: (plan.scopes[window.scope] as Plan["scopes"][number]).groupId,
        current: String(denial.spent),
        limit: String(window.limit),
      };
    } else call.row.pre_action_state = { kind: "rate_limit", by: denial.by, ...rateOf(plan, denial) };
    return denialRefusal(plan, denial, now);
  }

  private heldRefusal({ call, plan }: LimitedCall, key: string): Refusal {
    const index = Math.max(
      0,
      plan.windows.findIndex((window) => window.key === key),
    );
    const { limitType, scope, limit } = plan.windows[index] as Plan["windows"][number];
    call.row.pre_action_state = {
      kind: "usage_limit",
      limit_type: limitType,
      group_id: (plan.scopes[scope] as Plan["scopes"][number]).groupId,
      held: true,
      limit: String(limit),
    };
    return quotaRefusal(plan, index, (plan.windows[index] as Plan["windows"][number]).limit, this.parts.now(), true);
  }

  /** Handles unreachable counters or usage totals. Null: the call proceeds uncounted, as `whenAway` allows. */
  away(call: Call, error: unknown): Refusal;
  away(call: Call, error: unknown, plan: Plan): Refusal | null;
  away(call: Call, error: unknown, plan?: Plan): Refusal | null {
    this.parts.log.warn("limits_unavailable", { call_id: call.id, error: error as Error });
    const open = this.parts.whenAway === "open" && plan !== undefined && !plan.windows.some(({ hard }) => hard);
    return open ? null : refuse("limits_unavailable", undefined, { headers: { "retry-after": "1" }, reason: reasonOf(error) });
  }
}
