import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { cancelQuietly } from "../kernel/http/cancel-quietly.ts";
import type { OutboundBytes } from "../kernel/http/outbound-bytes.ts";
import { isPrivateAddress } from "../kernel/http/private-address.ts";
import { unlessAborted } from "../kernel/scheduling/unless-aborted.ts";
import { AnsweringFirst } from "./answering-first.ts";
import { goesByProxy } from "./by-proxy.ts";
import { DepartingBodies } from "./departing-body.ts";
import { unpacked } from "./unpacked.ts";

/** The only HTTP client for outbound requests, with timeouts, address checks and cancellation. */
export interface Outbound {
  /**
   * Resolves with the response headers; the body streams. `abort` cancels the request at any time, and is itself aborted with an
   * `OutboundTimeout` if the headers take too long. Redirects are never followed: they lead away from the address the administrator
   * approved. Throws `OutboundDenied`, the abort reason, or the network error.
   */
  fetch(url: string, init: OutboundInit): Promise<Response>;
}

export interface OutboundInit {
  readonly method: string;
  readonly headers: Headers | Record<string, string>;
  readonly body?: string | Uint8Array | OutboundBytes;
  readonly abort: AbortController;
  /** Longest wait for the response headers, in milliseconds. */
  readonly timeoutMs: number;
  /** Called once the body may have been sent, also if that cannot be known. */
  readonly departed?: () => void;
}

export class OutboundDenied extends Error {}
export class OutboundTimeout extends Error {}

type Resolve = (host: string) => Promise<string[]>;
const systemResolve: Resolve = async (host) => (await lookup(host, { all: true })).map(({ address }) => address);

/** The resolved target of a fetch. */
interface Destination {
  readonly url: string;
  /** The IP that a name was resolved to. */
  readonly address?: string;
  readonly headers: OutboundInit["headers"];
  readonly tls?: { readonly serverName: string };
  /** Bun's `fetch` ignores the proxies of the environment only if this is false; its type has no such value. */
  readonly proxy?: undefined;
}

const WITHOUT_PROXY = { proxy: false } as unknown as { readonly proxy?: undefined };

/**
 * Addresses the request to the IP that was checked, because a second lookup could yield another one (DNS rebinding). The Host header and
 * TLS verification still use the name.
 */
function destination(url: string, headers: OutboundInit["headers"], address: string): Destination {
  const to = new URL(url);
  const named = new Headers(headers);
  named.set("host", to.host);
  const serverName = to.hostname.replace(/\.$/, "");
  to.hostname = isIP(address) === 6 ? `[${address}]` : address;
  return { url: to.href, address, headers: named, ...WITHOUT_PROXY, ...(to.protocol === "https:" ? { tls: { serverName } } : {}) };
}

/** The targets to try, in order; throws if any address is private. */
async function publicDestinations(
  url: string,
  headers: OutboundInit["headers"],
  { resolve = systemResolve, isDenied = isPrivateAddress }: Checks,
  answering: AnsweringFirst,
): Promise<Destination[]> {
  const to = new URL(url);
  const { hostname } = to;
  const host = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  const isAddress = isIP(host) !== 0;
  const addresses = isAddress ? [host] : await resolve(host);
  if (addresses.length === 0 || addresses.some(isDenied)) throw new OutboundDenied(`${host} is in a private address range`);
  // A proxy resolves hosts itself, and may accept them only by name.
  if (isAddress || goesByProxy(to)) return [{ url, headers }];
  // IPv4 first: if one address family is unreachable, it is usually IPv6.
  const sorted = addresses.toSorted((one, other) => isIP(one) - isIP(other));
  return (await answering.order(sorted, portOf(to))).map((address) => destination(url, headers, address));
}

/** Connection errors after which nothing was sent, so that the next address can be tried. */
const isUnreached = (error: unknown) => /^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH)$/.test(codeOf(error));

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code);

/** Whether a fetch failed on an established connection, so that the other side may have received some or all of the request. */
export const wasConnected = (error: unknown): boolean => codeOf(error) === "ECONNRESET";

/** Error codes of Bun for responses that are not valid HTTP. */
const UNREADABLE =
  /^(?:Malformed_HTTP_Response|InvalidHTTPResponse|InvalidContentLength|UnrequestedUpgrade|UnsupportedTransferEncoding|ResponseHeadersTooLarge)$/;

/** Whether a fetch failed because the response cannot be parsed. */
export const isUnreadable = (error: unknown): boolean => UNREADABLE.test(codeOf(error));

/** Fails on statuses that HTTP does not have, because no `Response` with them could be made of this one. */
function valid(response: Response): Response {
  const { status } = response;
  if (status >= 200 && status <= 599) return response;
  void cancelQuietly(response.body);
  throw Object.assign(new Error(`the status ${status} is not one of HTTP`), { code: "InvalidHTTPResponse" });
}

interface Checks {
  readonly resolve?: Resolve;
  readonly isDenied?: (address: string) => boolean;
}

/** Bun would end requests that were silent for five minutes, whatever their own timeout is; its type has no `timeout`. */
const OPTIONS = { redirect: "manual", decompress: false, timeout: false } as const;

const portOf = ({ protocol, port }: URL) => Number(port) || (protocol === "https:" ? 443 : 80);

export function outbound(options: Checks & { allowPrivate: boolean }): Outbound {
  const answering = new AnsweringFirst();
  const bodies = new DepartingBodies();
  return {
    async fetch(url, { method, headers, body, abort, timeoutMs, departed }) {
      const { signal } = abort;
      const timer = setTimeout(() => abort.abort(new OutboundTimeout(`no answer within ${timeoutMs} ms`)), timeoutMs);
      try {
        const destinations = options.allowPrivate
          ? [{ url, headers }]
          : await unlessAborted(publicDestinations(url, headers, options, answering), signal);
        for (const [at, { url: to, address, headers: named, ...rest }] of destinations.entries()) {
          const { isWatched, ...content } =
            body === undefined ? { headers: named, isWatched: false } : bodies.of(url, body, named, departed);
          try {
            const response = await fetch(to, { method, ...rest, ...content, ...OPTIONS, signal });
            bodies.answered(url);
            if (address !== undefined && destinations.length > 1) answering.answered(address, portOf(new URL(to)));
            return unpacked(valid(response));
          } catch (error) {
            if (!isWatched && !isUnreached(error)) departed?.();
            if (at + 1 === destinations.length || signal.aborted || !isUnreached(error)) throw error;
          }
        }
        throw new Error("a request had nowhere to go");
      } catch (error) {
        throw signal.aborted ? signal.reason : error;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
