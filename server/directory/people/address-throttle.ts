import type { Clock } from "../../kernel/clock.ts";
import { networkOf } from "../../kernel/http/ip-address.ts";
import { BoundedMap } from "../bounded-map.ts";

const MINUTE_MS = 60_000;
const MAX_ADDRESSES = 20_000;

/** How often a client network may do something within a window. */
export const USE_LIMITS = {
  /** Registrations, whatever comes of them: enough for a room of people behind one address, too few for a script. */
  registration: { most: 60, windowMs: 10 * MINUTE_MS },
  /** Sign-ins begun at an identity provider, and metadata documents requested, without authentication. */
  sign_on: { most: 600, windowMs: MINUTE_MS },
  /** SAML responses that failed verification: reading one can cost as much as hundreds of valid ones. */
  saml_response: { most: 60, windowMs: MINUTE_MS },
} as const;

export type AddressUse = keyof typeof USE_LIMITS;

export interface AddressUses {
  /** Counts one use. Resolves to null if it may proceed, otherwise to the seconds to wait; what is refused does not count. */
  take(use: AddressUse, address: string): Promise<number | null>;
  /** Takes back a use that should not count. */
  giveBack(use: AddressUse, address: string): Promise<void>;
}

/** Uses counted for all machines of a fleet. Does not throw. */
export interface SharedUses {
  /** Milliseconds to wait, 0 if none; null if the counts cannot be had. */
  take(use: AddressUse, network: string): Promise<number | null>;
  giveBack(use: AddressUse, network: string): Promise<void>;
}

/** Limits what clients may do without authentication: in this process's memory, and by what all machines counted, if that can be had. */
export class AddressThrottle implements AddressUses {
  private readonly windows = new Map<AddressUse, BoundedMap<string, { count: number; readonly endsAt: number }>>();
  private readonly clock: Clock;
  private readonly shared: SharedUses | undefined;

  constructor(clock: Clock, shared?: SharedUses) {
    this.clock = clock;
    this.shared = shared;
  }

  async take(use: AddressUse, address: string): Promise<number | null> {
    const network = networkOf(address);
    const { most, windowMs } = USE_LIMITS[use];
    const now = this.clock.now();
    const windows = this.windowsOf(use);
    const held = windows.get(network);
    const window = held !== undefined && held.endsAt > now ? held : { count: 0, endsAt: now + windowMs };
    if (window.count >= most) return Math.ceil((window.endsAt - now) / 1000);
    window.count++;
    windows.set(network, window);
    const waitMs = (await this.shared?.take(use, network)) ?? 0;
    if (waitMs === 0) return null;
    window.count--;
    return Math.ceil(waitMs / 1000);
  }

  async giveBack(use: AddressUse, address: string): Promise<void> {
    const network = networkOf(address);
    const window = this.windowsOf(use).get(network);
    if (window !== undefined) window.count = Math.max(0, window.count - 1);
    await this.shared?.giveBack(use, network);
  }

  private windowsOf(use: AddressUse) {
    const known = this.windows.get(use);
    if (known !== undefined) return known;
    const made = new BoundedMap<string, { count: number; readonly endsAt: number }>(MAX_ADDRESSES);
    this.windows.set(use, made);
    return made;
  }
}

interface Asking {
  ask(name: string, value: unknown): Promise<unknown>;
}

/** The uses that another process of this machine counts, so that more processes do not allow more. */
export function remoteUses(to: Asking): AddressUses {
  return {
    take: async (use, address) => (await to.ask("uses.take", [use, address])) as number | null,
    giveBack: async (use, address) => void (await to.ask("uses.giveBack", [use, address])),
  };
}

/** Serves processes that use `remoteUses`. */
export function useAnswerers(uses: AddressUses) {
  return {
    "uses.take": ([use, address]: [AddressUse, string]) => uses.take(use, address),
    "uses.giveBack": ([use, address]: [AddressUse, string]) => uses.giveBack(use, address),
  };
}
