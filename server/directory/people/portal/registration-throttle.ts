import type { Clock } from "../../../kernel/clock.ts";
import { networkOf } from "../../../kernel/http/ip-address.ts";
import { BoundedMap } from "../../bounded-map.ts";

const WINDOW_MS = 10 * 60_000;
const MAX_IN_WINDOW = 60;
const MAX_ADDRESSES = 20_000;

/**
 * Throttles registration and probing for usernames, in this process's memory. Every registration from an address counts,
 * whatever its outcome: enough for a room of people behind one address, too few for a script.
 */
export class RegistrationThrottle {
  private readonly clock: Clock;
  private readonly windows = new BoundedMap<string, { tries: number; endsAt: number }>(MAX_ADDRESSES);

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Counts one registration. Returns null if it may proceed, otherwise the seconds to wait. */
  enter(from: string): number | null {
    const address = networkOf(from);
    const now = this.clock.now();
    const held = this.windows.get(address);
    const window = held !== undefined && held.endsAt > now ? held : { tries: 0, endsAt: now + WINDOW_MS };
    if (window.tries >= MAX_IN_WINDOW) return Math.ceil((window.endsAt - now) / 1000);
    window.tries++;
    this.windows.set(address, window);
    return null;
  }
}
