import type { Call } from "../../road/call.ts";
import { type Actual, type Counters, NOTHING_USED, type Reservation } from "./counters.ts";

interface Lender {
  /** What the call holds of its windows now; null while it is lent. */
  held: Reservation | null;
  /** On its way to a provider: it needs what it holds until its answer is in. */
  left: boolean;
  /** Its answer is in and counted. */
  counted: boolean;
}

/**
 * What callers' calls hold, and give up for as long as a call of the gateway's own, made on their behalf, would else
 * wait for it: a call that holds never waits, so that no two calls wait for each other. What was lent is taken again
 * before the call leaves.
 */
export class Lending {
  private readonly lenders = new WeakMap<Call, Lender>();
  private readonly counters: Counters;

  constructor(counters: Counters) {
    this.counters = counters;
  }

  /** The call holds this, from its admission on or again. */
  holds(call: Call, reservation: Reservation): void {
    if (reservation.demand.tokens === 0 && reservation.demand.micros === 0) return;
    this.lenders.set(call, { held: reservation, left: false, counted: false });
  }

  leaves(call: Call): void {
    const lender = this.lenders.get(call);
    if (lender !== undefined) lender.left = true;
  }

  /** Settled: it has nothing to give any more. */
  ended(call: Call): void {
    this.lenders.delete(call);
  }

  hasLent(call: Call): boolean {
    return this.lenders.get(call)?.held === null;
  }

  /** What the call took again after it had lent what it held from its admission on; null: nothing. */
  takenAgain(call: Call): Reservation | null {
    const held = this.lenders.get(call)?.held;
    return held == null || held.id === call.id ? null : held;
  }

  /** Gives up what the call holds, for what its answer used where that is known (null: it is not). False: it cannot. */
  lend(call: Call, used: Actual | null): boolean | Promise<boolean> {
    const lender = this.lenders.get(call);
    const held = lender?.held;
    if (lender === undefined || held == null || lender.counted || (lender.left && used === null)) return false;
    let parted: unknown;
    if (lender.left) {
      lender.counted = true;
      parted = this.counters.part(held, used as Actual);
    } else {
      lender.held = null;
      parted = held.id === call.id ? this.counters.part(held, NOTHING_USED) : this.counters.settle(held, NOTHING_USED);
    }
    return parted instanceof Promise ? parted.then(() => true) : true;
  }
}
