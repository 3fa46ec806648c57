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
  /** What happens to rate limits when the counters cannot be reached. */
  readonly whenAway: "closed" | "open";
  /** Longest wait of a call for calls in flight to be settled. */
  readonly waitMs: number;
  /** Milliseconds. */
  readonly now: () => number;
  /** Gives up what a call holds, for what its answer used if that is in. False: it needs what it holds. */
  readonly lend: (call: Call) => boolean | Promise<boolean>;
  readonly reservationOf: (call: Call) => Reservation | undefined;
  readonly counts: Pick<InputCounts, "boundOf">;
  /** Whether jobs hold some of a window, by its key: they may go on for hours. */
  readonly heldByJobs: (key: string) => boolean;
}

/** How long a call waits for what is in flight where jobs are in flight too. */
const BEHIND_JOBS_MS = 1_000;

/** Told what each window and each bucket came to. */
type Held = (found: Admitted) => void;

/**
 * Takes a plan from the counters: at once in the usual way, else in line with the calls that wait for the same windows,
 * until it is taken, cannot be, or has waited for long enough.
 */
export class AdmissionGate {
  private readonly lines: AdmissionQueues;
  private readonly parts: AdmissionGateParts;

  constructor(parts: AdmissionGateParts) {
    this.parts = parts;
    this.lines = new AdmissionQueues(parts.counters.lookAgainMs);
  }

  /** Null once it has passed; what it then holds was given to `held`. */
  pass(limited: LimitedCall, held: Held): Refusal | null | Promise<Refusal | null> {
    const key = this.lines.empty || limited.ahead !== null ? null : this.lineOf(limited);
    const outcome = this.tryOnce(limited, key !== null);
    // The usual way: everything is in memory, nobody waits, nothing is awaited.
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
          const given = this.parts.lend(lent);
          if (given instanceof Promise ? await given : given) {
            // Before anybody who waits hears of it.
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
          // What was released before there was a line was not heard of: the first looks once more at once.
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

  /** A line of calls that wait for one of this call's windows, which it must not overtake. */
  private lineOf({ plan, demand }: LimitedCall): string | null {
    return plan.windows.find((window) => heldOf(window, demand) > 0 && this.lines.has(window.key))?.key ?? null;
  }

  /** Counts the request where its bytes are what does not fit: then it may. Once for each call. */
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

  /** An answer whose length the caller left open is given as much as the quota still covers, if that is worth a call. */
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

  /** The counters or the totals behind them cannot be reached. Null: the call goes uncounted, as the setting allows. */
  away(call: Call, error: unknown): Refusal;
  away(call: Call, error: unknown, plan: Plan): Refusal | null;
  away(call: Call, error: unknown, plan?: Plan): Refusal | null {
    this.parts.log.warn("limits_unavailable", { call_id: call.id, error: error as Error });
    const open = this.parts.whenAway === "open" && plan !== undefined && !plan.windows.some(({ hard }) => hard);
    return open ? null : refuse("limits_unavailable", undefined, { headers: { "retry-after": "1" }, reason: reasonOf(error) });
  }
}
