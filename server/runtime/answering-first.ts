import { connect } from "node:net";
import { BoundedCache } from "../kernel/collections/bounded-cache.ts";

/** Longest wait for a connection; a network that loses the first packet repeats it after a second. */
const CONNECTS_WITHIN_MS = 1_500;
const KNOWN_MS = 30_000;
/** As long as Bun keeps an idle connection: a request that finds one needs no other. */
const ANSWERED_MS = 5 * 60_000;
/** A name may lead to any number of addresses. */
const MAX_TRIED = 4;
const MAX_KNOWN = 10_000;

function accepts(address: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port });
    const end = (is: boolean) => {
      clearTimeout(late);
      socket.destroy();
      resolve(is);
    };
    const late = setTimeout(() => end(false), CONNECTS_WITHIN_MS);
    socket.once("connect", () => end(true));
    // Stays: an error after the end would otherwise have no listener.
    socket.on("error", () => end(false));
  });
}

interface Known {
  readonly isAnswering: Promise<boolean>;
  until: number;
}

/**
 * Puts the addresses of a host in the order to try them, because a request to one whose packets are lost would wait for its whole timeout,
 * and whether a request was sent cannot be told afterwards. Addresses that answered lately are taken as they come; others are asked for a
 * connection first, and come last if they accept none.
 */
export class AnsweringFirst {
  private readonly known: BoundedCache<Known>;
  private readonly now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.known = new BoundedCache(MAX_KNOWN, now);
    this.now = now;
  }

  answered(address: string, port: number): void {
    this.note(`${address} ${port}`, Promise.resolve(true), ANSWERED_MS);
  }

  async order(addresses: readonly string[], port: number): Promise<readonly string[]> {
    if (addresses.length < 2) return addresses;
    for (const [at, address] of addresses.slice(0, MAX_TRIED).entries())
      if (await this.isAnswering(address, port)) return [...addresses.slice(at), ...addresses.slice(0, at)];
    return addresses;
  }

  private isAnswering(address: string, port: number): Promise<boolean> {
    const key = `${address} ${port}`;
    const known = this.known.get(key);
    if (known === undefined || known.until <= this.now()) return this.note(key, accepts(address, port), KNOWN_MS);
    // Until the request that is about to be sent is answered, the address may have died meanwhile.
    known.until = Math.min(known.until, this.now() + KNOWN_MS);
    return known.isAnswering;
  }

  private note(key: string, isAnswering: Promise<boolean>, ms: number): Promise<boolean> {
    this.known.set(key, { isAnswering, until: this.now() + ms }, ms);
    return isAnswering;
  }
}
