import type { Call } from "../../../road/call.ts";
import { type Actual, type Counters, NOTHING_USED, type Reservation } from "./counters.ts";

interface ReservationHolder {
  /** What the call holds of its windows now; null while it is suspended. */
  held: Reservation | null;
  /** On its way to a provider: it needs what it holds until its answer is in. */
  left: boolean;
  /** Its answer is in and counted. */
  counted: boolean;
}

/**
 * Reservations of callers' calls, which are suspended for as long as a call of the gateway's own, made on their behalf, would else
 * wait for it: a call that holds a reservation never waits, so that there is no deadlock. A suspended reservation is
 * acquired again before the call is dispatched.
 */
export class SuspendedReservations {
  private readonly holders = new WeakMap<Call, ReservationHolder>();
  private readonly counters: Counters;

  constructor(counters: Counters) {
    this.counters = counters;
  }

  /** The call holds this, from its admission on or again. */
  hold(call: Call, reservation: Reservation): void {
    if (reservation.demand.tokens === 0 && reservation.demand.micros === 0) return;
    this.holders.set(call, { held: reservation, left: false, counted: false });
  }

  dispatched(call: Call): void {
    const holder = this.holders.get(call);
    if (holder !== undefined) holder.left = true;
  }

  /** Settled: it holds nothing any more. */
  ended(call: Call): void {
    this.holders.delete(call);
  }

  isSuspended(call: Call): boolean {
    return this.holders.get(call)?.held === null;
  }

  /** What the call acquired again after its reservation was suspended; null: nothing. */
  reacquired(call: Call): Reservation | null {
    const held = this.holders.get(call)?.held;
    return held == null || held.id === call.id ? null : held;
  }

  /** Gives up what the call holds, for what its answer used where that is known (null: it is not). False: it cannot. */
  suspend(call: Call, used: Actual | null): boolean | Promise<boolean> {
    const holder = this.holders.get(call);
    const held = holder?.held;
    if (holder === undefined || held == null || holder.counted || (holder.left && used === null)) return false;
    let parted: unknown;
    if (holder.left) {
      holder.counted = true;
      parted = this.counters.part(held, used as Actual);
    } else {
      holder.held = null;
      parted = held.id === call.id ? this.counters.part(held, NOTHING_USED) : this.counters.settle(held, NOTHING_USED);
    }
    return parted instanceof Promise ? parted.then(() => true) : true;
  }
}
