import type { Call } from "../../../road/call.ts";
import { type Actual, type Counters, NOTHING_USED, type Reservation } from "./counters.ts";

interface ReservationHolder {
  /** What the call holds now; null while it is suspended. */
  held: Reservation | null;
  /** Sent to a provider: it needs its hold until the answer is in. */
  left: boolean;
  /** The answer is in and its usage counted. */
  counted: boolean;
}

/**
 * Reservations of callers' calls. One is suspended while a nested call made on its behalf would otherwise wait for it: a call that
 * waits never holds a reservation, so there is no deadlock. The call acquires a suspended reservation again before it is dispatched.
 */
export class SuspendedReservations {
  private readonly holders = new WeakMap<Call, ReservationHolder>();
  private readonly counters: Counters;

  constructor(counters: Counters) {
    this.counters = counters;
  }

  /** The call holds this reservation, from admission or acquired again. */
  hold(call: Call, reservation: Reservation): void {
    if (reservation.demand.tokens === 0 && reservation.demand.micros === 0) return;
    this.holders.set(call, { held: reservation, left: false, counted: false });
  }

  dispatched(call: Call): void {
    const holder = this.holders.get(call);
    if (holder !== undefined) holder.left = true;
  }

  /** Settled: the call holds nothing any more. */
  ended(call: Call): void {
    this.holders.delete(call);
  }

  isSuspended(call: Call): boolean {
    return this.holders.get(call)?.held === null;
  }

  /** What the call acquired again after its reservation was suspended; null if nothing. */
  reacquired(call: Call): Reservation | null {
    const held = this.holders.get(call)?.held;
    return held == null || held.id === call.id ? null : held;
  }

  /** Releases the call's hold. `used`: its answer's usage, null if not known yet. False if the hold cannot be released. */
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
