import type { Clock } from "../../kernel/clock.ts";
import { networkOf } from "../../kernel/http/ip-address.ts";
import { BoundedMap } from "../bounded-map.ts";
import type { HashingRequester } from "./portal/password-work.ts";

interface Window {
  failures: number;
  endsAt: number;
}

const WINDOW_MS = 10 * 60_000;
const LIMITS = { pair: 5, address: 100, account: 100 } as const;
const MAX_ENTRIES = 20_000;
const MAX_WAITING = 100;

/**
 * A canonical form of an account name. Lower-cases by code point, as the database compares names: there, `İ` equals `i`,
 * and a final sigma is not special.
 */
export function usernameKey(username: string): string {
  return Array.from(username.normalize("NFC"), (letter) => String.fromCodePoint(letter.toLowerCase().codePointAt(0) ?? 0)).join("");
}

type Kind = keyof typeof LIMITS;

/**
 * Throttles password guessing, in this process's memory: few failures per account and address, more per address over all
 * accounts and per account over all addresses. The last two do not apply where the account has logged in from the address
 * before, so that strangers' guesses never lock out the owner.
 */
export class LoginThrottle {
  private readonly clock: Clock;
  private readonly windows: Record<Kind, BoundedMap<string, Window>> = {
    pair: new BoundedMap(MAX_ENTRIES),
    address: new BoundedMap(MAX_ENTRIES),
    account: new BoundedMap(MAX_ENTRIES),
  };
  private readonly trusted = new BoundedMap<string, true>(MAX_ENTRIES);
  private readonly turns = new Map<string, { tail: Promise<unknown>; waiting: number }>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /**
   * Runs one attempt, which counts as a failure if it resolves to false. Attempts on one account from one address are
   * serialized, so that parallel ones gain no extra guesses. `run` receives the requester for its hashing. Returns the
   * seconds to wait if it was not run.
   */
  async attempt(
    account: string,
    from: string,
    run: (turn: HashingRequester) => Promise<boolean>,
  ): Promise<{ ran: true } | { ran: false; retryAfter: number }> {
    const address = networkOf(from);
    const pair = JSON.stringify([account, address]);
    const turn = this.turns.get(pair) ?? { tail: Promise.resolve(), waiting: 0 };
    if (turn.waiting >= MAX_WAITING) return { ran: false, retryAfter: 1 };
    turn.waiting++;
    this.turns.set(pair, turn);
    const outcome = turn.tail.then(() => this.attemptNow(pair, account, address, run));
    turn.tail = outcome.catch(() => undefined);
    try {
      return await outcome;
    } finally {
      turn.waiting--;
      if (turn.waiting === 0) this.turns.delete(pair);
    }
  }

  private async attemptNow(
    pair: string,
    account: string,
    address: string,
    run: (turn: HashingRequester) => Promise<boolean>,
  ): Promise<{ ran: true } | { ran: false; retryAfter: number }> {
    const trusted = this.trusted.get(pair) === true;
    const waitUntil = Math.max(
      this.blockedUntil("pair", pair),
      trusted ? 0 : Math.max(this.blockedUntil("address", address), this.blockedUntil("account", account)),
    );
    const now = this.clock.now();
    if (waitUntil > now) return { ran: false, retryAfter: Math.ceil((waitUntil - now) / 1000) };
    if (await run(trusted ? { of: pair, known: true } : { of: address, known: false })) {
      this.windows.pair.delete(pair);
      this.trusted.set(pair, true);
    } else {
      this.count("pair", pair);
      this.count("address", address);
      this.count("account", account);
    }
    return { ran: true };
  }

  private blockedUntil(kind: Kind, key: string): number {
    const window = this.windows[kind].get(key);
    return window !== undefined && window.failures >= LIMITS[kind] ? window.endsAt : 0;
  }

  private count(kind: Kind, key: string): void {
    const now = this.clock.now();
    const held = this.windows[kind].get(key);
    const window = held !== undefined && held.endsAt > now ? held : { failures: 0, endsAt: now + WINDOW_MS };
    window.failures++;
    this.windows[kind].set(key, window);
  }
}
