import type { ModelEntry } from "../../../directory/snapshot.ts";
import type { Refusal } from "../../../kernel/errors.ts";
import { isAnswered } from "../../../road/own-calls/batched.ts";
import type { Call } from "../../../road/call.ts";
import { modelOf } from "../../../road/target.ts";
import type { AdmissionGate } from "../admission/admission-gate.ts";
import { type Actual, type Counters, type Demand, NOTHING_USED, type Plan, type Reservation } from "./counters.ts";
import type { LimitedCall } from "../limited-call.ts";
import { type CallPlan, withoutRateLimits } from "../plans/plan.ts";
import type { SuspendedReservations } from "./suspended-reservations.ts";

/** Longer than it takes to record that a call has left. */
const FRESH_MS = 300_000;

export interface LeftCallsParts {
  readonly counters: Pick<Counters, "settle">;
  readonly gate: Pick<AdmissionGate, "pass" | "released">;
  /** Reservations of calls in flight, and how these were admitted. */
  readonly reservations: Pick<WeakMap<Call, Reservation>, "get" | "delete">;
  readonly arrivals: Pick<WeakMap<Call, LimitedCall>, "get">;
  readonly suspended: Pick<SuspendedReservations, "reacquired" | "ended">;
  readonly settle: (call: Call, reservation: Reservation, actual: Actual) => Promise<void> | null;
  readonly sealed: (call: Call) => void;
  /** The token and cost limits that apply to a call to the model. */
  readonly planOf: (call: Call, model: ModelEntry) => CallPlan;
}

/** A provider's batch slows nobody down: its answers take nothing from rates or concurrency. */
const unpaced = (plan: CallPlan): CallPlan => ({ ...withoutRateLimits(plan), buckets: [] });

/**
 * Calls sent as part of a provider's batch. While such a call is away its worst case is held, in place of its hold on
 * the way there; its usage is counted when its answer is given.
 */
export class LeftCalls {
  private readonly held = new Map<string, { readonly reservation: Reservation; readonly since: number }>();
  private readonly plans = new WeakMap<Plan, CallPlan>();
  private readonly parts: LeftCallsParts;

  constructor(parts: LeftCallsParts) {
    this.parts = parts;
  }

  /** A refusal means that the call must not be sent. */
  async leave(call: Call): Promise<Refusal | null> {
    const { reservations, arrivals, suspended, settle, sealed, gate } = this.parts;
    const reservation = reservations.get(call);
    const arrived = arrivals.get(call);
    if (reservation === undefined) return null;
    reservations.delete(call);
    const again = suspended.reacquired(call);
    suspended.ended(call);
    if (again !== null) await settle(call, again, NOTHING_USED);
    // It has left the normal path of calls, but its request stays counted.
    await settle(call, reservation, { ...NOTHING_USED, requests: 1 });
    sealed(call);
    if (arrived === undefined) return null;
    const demand = this.reduced(reservation.demand, call.priceFactor ?? 1);
    const limited: LimitedCall = {
      ...arrived,
      ...{ id: `${call.id}/batch`, view: null, worst: null, demand },
      plan: this.planFrom(arrived.plan),
      ahead: { ms: 0, lender: null },
    };
    const held = { reservation: { id: limited.id, plan: limited.plan, demand }, since: performance.now() };
    return gate.pass(limited, () => this.held.set(call.id, held));
  }

  /** Releases holds of calls that are no longer away, because another process gave and counted their answers. */
  release(away: ReadonlySet<string>): void {
    const now = performance.now();
    for (const [id, { reservation, since }] of this.held) {
      // A call that has only just left is not recorded yet.
      if (away.has(id) || now - since < FRESH_MS) continue;
      this.held.delete(id);
      const settled = this.parts.counters.settle(reservation, { ...NOTHING_USED, requests: 1 });
      if (settled instanceof Promise) settled.catch(() => undefined);
      this.parts.gate.released(reservation);
    }
  }

  /** Counts the usage of a batch answer; null for every other call, and if done synchronously. */
  settled(call: Call, actual: Actual): Promise<void> | null {
    if (!isAnswered(call)) return null;
    const held = this.held.get(call.id);
    if (held === undefined) return this.count(call, actual);
    this.held.delete(call.id);
    return this.parts.settle(call, held.reservation, { ...actual, requests: 1 });
  }

  /** Counts the usage of a call that another process sent, for which nothing is held here. */
  private async count(call: Call, actual: Actual): Promise<void> {
    const model = modelOf(call);
    if (model === null || call.scope === null) return;
    const plan = this.planFrom(this.parts.planOf(call, model));
    if (plan.windows.length === 0) return;
    const demand = { tokens: 0, micros: 0, toolCalls: 0 };
    const limited: LimitedCall = {
      ...{ id: `${call.id}/given`, call, view: null, model, plan, worst: null, counted: null, outputTokens: 0, demand },
      ahead: { ms: 0, lender: null },
    };
    let taken: Reservation | null = null;
    // If nothing is left there is nothing to take; the usage totals will include the row.
    await this.parts.gate.pass(limited, () => {
      taken = { id: limited.id, plan, demand };
    });
    if (taken !== null) await this.parts.settle(call, taken, actual);
  }

  private planFrom(plan: CallPlan): CallPlan {
    let made = this.plans.get(plan);
    if (made === undefined) this.plans.set(plan, (made = unpaced(plan)));
    return made;
  }

  private reduced({ tokens, micros, toolCalls }: Demand, factor: number): Demand {
    return { tokens, micros: Math.ceil(micros * factor), toolCalls };
  }
}
