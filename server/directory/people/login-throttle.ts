import type { Clock } from "../../kernel/clock.ts";
import { networkOf } from "../../kernel/http/ip-address.ts";
import { BoundedMap } from "../bounded-map.ts";
import type { HashingRequester } from "./portal/password-work.ts";
import {
  FAILURE_LIMITS,
  FAILURE_WINDOW_MS,
  type FailureKeys,
  type FailureKind,
  type FailureState,
  type SharedFailures,
} from "./shared-failures.ts";

interface Window {
  failures: number;
  endsAt: number;
}

const MAX_ENTRIES = 20_000;
const MAX_WAITING = 100;

/**
 * A canonical form of an account name. Lower-cases by code point, as the database compares names: there, `İ` equals `i`,
 * and a final sigma is not special.
 */
export function usernameKey(username: string): string {
  return Array.from(username.normalize("NFC"), (letter) => String.fromCodePoint(letter.toLowerCase().codePointAt(0) ?? 0)).join("");
}

/**
 * Throttles password guessing, in this process's memory or with what all machines counted: few failures per account and address, more
 * per address over all accounts and per account over all addresses. The last two do not apply where the account has logged in from the
 * address before, so that strangers' guesses never lock out the owner.
 */
export class LoginThrottle {
  private readonly clock: Clock;
  private readonly windows: Record<FailureKind, BoundedMap<string, Window>> = {
    pair: new BoundedMap(MAX_ENTRIES),
    address: new BoundedMap(MAX_ENTRIES),
    account: new BoundedMap(MAX_ENTRIES),
  };
  private readonly trusted = new BoundedMap<string, true>(MAX_ENTRIES);
  private readonly turns = new Map<string, { tail: Promise<unknown>; waiting: number }>();

  private readonly shared: SharedFailures | undefined;
  /** Until then, failures may be missing in the shared counts. */
  private uncountedUntil = 0;

  /** While `shared` cannot be had, this process's own counts hold. */
  constructor(clock: Clock, shared?: SharedFailures) {
    this.clock = clock;
    this.shared = shared;
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
    const outcome = turn.tail.then(() => this.attemptNow({ pair, account, address }, run));
    turn.tail = outcome.catch(() => undefined);
    try {
      return await outcome;
    } finally {
      turn.waiting--;
      if (turn.waiting === 0) this.turns.delete(pair);
    }
  }

  private async attemptNow(
    keys: FailureKeys,
    run: (turn: HashingRequester) => Promise<boolean>,
  ): Promise<{ ran: true } | { ran: false; retryAfter: number }> {
    const own = this.look(keys);
    const all = (await this.shared?.look(keys)) ?? null;
    const trusted = own.trusted || all?.trusted === true;
    const states = all === null ? [own] : this.clock.now() < this.uncountedUntil ? [all, own] : [all];
    const waitMs = Math.max(...states.map(({ pairMs, othersMs }) => Math.max(pairMs, trusted ? 0 : othersMs)));
    if (waitMs > 0) return { ran: false, retryAfter: Math.ceil(waitMs / 1000) };
    if (await run(trusted ? { of: keys.pair, known: true } : { of: keys.address, known: false })) {
      this.windows.pair.delete(keys.pair);
      this.trusted.set(keys.pair, true);
      if (all !== null) await this.shared?.succeeded(keys);
    } else {
      for (const kind of ["pair", "address", "account"] as const) this.count(kind, keys[kind]);
      if (all !== null && (await this.shared?.failed(keys)) === false) this.uncountedUntil = this.clock.now() + FAILURE_WINDOW_MS;
    }
    return { ran: true };
  }

  private look({ pair, address, account }: FailureKeys): FailureState {
    return {
      trusted: this.trusted.get(pair) === true,
      pairMs: this.waitMs("pair", pair),
      othersMs: Math.max(this.waitMs("address", address), this.waitMs("account", account)),
    };
  }

  private waitMs(kind: FailureKind, key: string): number {
    const window = this.windows[kind].get(key);
    return window !== undefined && window.failures >= FAILURE_LIMITS[kind] ? Math.max(0, window.endsAt - this.clock.now()) : 0;
  }

  private count(kind: FailureKind, key: string): void {
    const now = this.clock.now();
    const held = this.windows[kind].get(key);
    const window = held !== undefined && held.endsAt > now ? held : { failures: 0, endsAt: now + FAILURE_WINDOW_MS };
    window.failures++;
    this.windows[kind].set(key, window);
  }
}
