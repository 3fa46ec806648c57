import { isBefore, type Position } from "../journal/segments.ts";

interface Waiter {
  readonly until: Position;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Callers waiting until the journal up to a position is in the database. */
export class ShipWaiters {
  private waiters: Waiter[] = [];

  get some(): boolean {
    return this.waiters.length > 0;
  }

  arrival(until: Position): Promise<void> {
    return new Promise((resolve, reject) => this.waiters.push({ until, resolve, reject }));
  }

  settle(cursor: Position): void {
    const arrived = this.waiters.filter((waiter) => !isBefore(cursor, waiter.until));
    if (arrived.length === 0) return;
    this.waiters = this.waiters.filter((waiter) => isBefore(cursor, waiter.until));
    for (const waiter of arrived) waiter.resolve();
  }

  reject(reason: string): void {
    for (const waiter of this.waiters) waiter.reject(new Error(reason));
    this.waiters = [];
  }
}
