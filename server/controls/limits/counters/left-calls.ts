import type { ModelEntry } from "../../../directory/snapshot.ts";
import type { Refusal } from "../../../kernel/errors.ts";
import { isAnswered } from "../../../road/batched.ts";
import type { Call } from "../../../road/call.ts";
import { modelOf } from "../../../road/target.ts";
import type { AdmissionGate } from "../admission/admission-gate.ts";
import { type Actual, type Counters, type Demand, NOTHING_USED, type Plan, type Reservation } from "./counters.ts";
import type { LimitedCall } from "../limited-call.ts";
import { type CallPlan, withoutRateLimits } from "../plans/plan.ts";
import type { SuspendedReservations } from "./suspended-reservations.ts";

/** Longer than it takes to write down that a call has left. */
const FRESH_MS = 300_000;

export interface LeftCallsParts {
  readonly counters: Pick<Counters, "settle">;
  readonly gate: Pick<AdmissionGate, "pass" | "released">;
  /** What calls hold that are on their way, and how they came to the gate. */
  readonly reservations: Pick<WeakMap<Call, Reservation>, "get" | "delete">;
  readonly arrivals: Pick<WeakMap<Call, LimitedCall>, "get">;
  readonly suspended: Pick<SuspendedReservations, "reacquired" | "ended">;
  readonly settle: (call: Call, reservation: Reservation, actual: Actual) => Promise<void> | null;
  readonly sealed: (call: Call) => void;
  /** What a call to the model is held to of tokens and dollars. */
  readonly planOf: (call: Call, model: ModelEntry) => CallPlan;
}

/** A batch of a provider's is in nobody's way: of rates, and of calls at once, it takes nothing when its answers come. */
const unpaced = (plan: CallPlan): CallPlan => ({ ...withoutRateLimits(plan), buckets: [] });

/**
 * Calls that left in a batch of their provider: what each may come to is held for as long as it is away, in the place of
 * what it held on its way there, and what it came to is counted when its answer is given.
 */
export class LeftCalls {
  private readonly held = new Map<string, { readonly reservation: Reservation; readonly since: number }>();
  private readonly plans = new WeakMap<Plan, CallPlan>();
  private readonly parts: LeftCallsParts;

  constructor(parts: LeftCallsParts) {
    this.parts = parts;
  }

  /** A refusal means that it must not leave. */
  async leave(call: Call): Promise<Refusal | null> {
    const { reservations, arrivals, suspended, settle, sealed, gate } = this.parts;
    const reservation = reservations.get(call);
    const arrived = arrivals.get(call);
    if (reservation === undefined) return null;
    reservations.delete(call);
    const again = suspended.reacquired(call);
    suspended.ended(call);
    if (again !== null) await settle(call, again, NOTHING_USED);
    // It has left the line of calls; that it was there stays counted.
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

  /** Gives up what is held for calls that are not away any more: their answers were given by another process, and counted there. */
  release(away: ReadonlySet<string>): void {
    const now = performance.now();
    for (const [id, { reservation, since }] of this.held) {
      // One that left just now is not written down yet.
      if (away.has(id) || now - since < FRESH_MS) continue;
      this.held.delete(id);
      const settled = this.parts.counters.settle(reservation, { ...NOTHING_USED, requests: 1 });
      if (settled instanceof Promise) settled.catch(() => undefined);
      this.parts.gate.released(reservation);
    }
  }

  /** Counts what an answer that is given came to; null for every other call, and where it is done at once. */
  settled(call: Call, actual: Actual): Promise<void> | null {
    if (!isAnswered(call)) return null;
    const held = this.held.get(call.id);
    if (held === undefined) return this.count(call, actual);
    this.held.delete(call.id);
    return this.parts.settle(call, held.reservation, { ...actual, requests: 1 });
  }

  /** Of a call that left from another process: nothing is held for it here, and what it used is counted all the same. */
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
    // Where nothing is left there is nothing to take: the totals of rows say what was used.
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
