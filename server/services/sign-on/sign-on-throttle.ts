import { BoundedMap } from "../../directory/bounded-map.ts";
import type { Clock } from "../../kernel/clock.ts";
import { refuse, Refused } from "../../kernel/errors.ts";
import { networkOf } from "../../kernel/http/ip-address.ts";

const MINUTE_MS = 60_000;
const MAX_PLACES = 20_000;

/** Limits the sign-in attempts per client network and minute. */
export class SignOnThrottle {
  private readonly counts = new BoundedMap<string, { readonly count: number; readonly until: number }>(MAX_PLACES);
  private readonly limit: number;
  private readonly clock: Clock;

  constructor(limit: number, clock: Clock) {
    this.limit = limit;
    this.clock = clock;
  }

  /** Counts one attempt. Throws `Refused` (`too_many_logins`, with `retry-after`) when the limit is exceeded. */
  take(address: string): void {
    const from = networkOf(address);
    const now = this.clock.now();
    const before = this.counts.get(from);
    const counted =
      before === undefined || before.until <= now ? { count: 1, until: now + MINUTE_MS } : { ...before, count: before.count + 1 };
    if (counted.count > this.limit) {
      const seconds = Math.ceil((counted.until - now) / 1000);
      throw new Refused(refuse("too_many_logins", undefined, { headers: { "retry-after": String(seconds) } }));
    }
    this.counts.set(from, counted);
  }

  /** Takes back an attempt that should not count. */
  giveBack(address: string): void {
    const from = networkOf(address);
    const counted = this.counts.get(from);
    if (counted !== undefined) this.counts.set(from, { ...counted, count: Math.max(0, counted.count - 1) });
  }
}
