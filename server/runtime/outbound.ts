import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { isPrivateAddress } from "../kernel/private-address.ts";

/** The one seam for calls that leave the gateway: timeouts, address checks, cancellation. */
export interface Outbound {
  /**
   * Resolves with the answer's head; its body streams. `abort` ends the call at any time, and is pulled with an
   * `OutboundTimeout` when the head takes too long. Redirects are never followed: an upstream that answers with one is
   * not at the address the admin vouched for. Throws `OutboundDenied`, the reason `abort` was pulled with, or what the
   * network failed with.
   */
  fetch(url: string, init: OutboundInit): Promise<Response>;
}

export interface OutboundInit {
  readonly method: string;
  readonly headers: Headers | Record<string, string>;
  readonly body?: string;
  readonly abort: AbortController;
  /** Longest wait for the answer's head, milliseconds. */
  readonly timeoutMs: number;
}

export class OutboundDenied extends Error {}
export class OutboundTimeout extends Error {}

async function assertPublic(url: string, resolve: Resolve): Promise<void> {
  const { hostname } = new URL(url);
  const host = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  const addresses = isIP(host) === 0 ? await resolve(host) : [host];
  if (addresses.length === 0 || addresses.some(isPrivateAddress)) throw new OutboundDenied(`${host} is in a private address range`);
}

type Resolve = (host: string) => Promise<string[]>;
const systemResolve: Resolve = async (host) => (await lookup(host, { all: true })).map(({ address }) => address);

/** A look-up cannot be called off: it is left to itself. */
async function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  let stop: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
  try {
    await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

export function outbound(options: { allowPrivate: boolean; resolve?: Resolve }): Outbound {
  const resolve = options.resolve ?? systemResolve;
  return {
    async fetch(url, { method, headers, body, abort, timeoutMs }) {
      const { signal } = abort;
      const timer = setTimeout(() => abort.abort(new OutboundTimeout(`no answer within ${timeoutMs} ms`)), timeoutMs);
      try {
        if (!options.allowPrivate) await unlessAborted(assertPublic(url, resolve), signal);
        return await fetch(url, { method, headers, ...(body === undefined ? {} : { body }), signal, redirect: "manual" });
      } catch (error) {
        throw signal.aborted ? signal.reason : error;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
