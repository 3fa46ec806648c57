import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { OutboundBytes } from "../kernel/http/outbound-bytes.ts";
import { isPrivateAddress } from "../kernel/http/private-address.ts";
import { unlessAborted } from "../kernel/scheduling/unless-aborted.ts";
import { unpacked } from "./unpacked.ts";

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
  readonly body?: string | Uint8Array | OutboundBytes;
  readonly abort: AbortController;
  /** Longest wait for the answer's head, milliseconds. */
  readonly timeoutMs: number;
}

export class OutboundDenied extends Error {}
export class OutboundTimeout extends Error {}

type Resolve = (host: string) => Promise<string[]>;
const systemResolve: Resolve = async (host) => (await lookup(host, { all: true })).map(({ address }) => address);

/** What a fetch goes to. */
interface Destination {
  readonly url: string;
  readonly headers: OutboundInit["headers"];
  readonly tls?: { readonly serverName: string };
}

/**
 * The same request for an address its host was looked up to, which is what was checked: a name that is looked up again to
 * connect may lead elsewhere by then. The upstream is asked for, and has to prove itself, by its name.
 */
function destination(url: string, headers: OutboundInit["headers"], address: string): Destination {
  const to = new URL(url);
  const named = new Headers(headers);
  named.set("host", to.host);
  const serverName = to.hostname.replace(/\.$/, "");
  to.hostname = isIP(address) === 6 ? `[${address}]` : address;
  return { url: to.href, headers: named, ...(to.protocol === "https:" ? { tls: { serverName } } : {}) };
}

/** Where a request may go, to be tried in this order; throws where one of the addresses is private. */
async function publicDestinations(
  url: string,
  headers: OutboundInit["headers"],
  { resolve = systemResolve, isDenied = isPrivateAddress }: Checks,
): Promise<Destination[]> {
  const { hostname } = new URL(url);
  const host = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  const isAddress = isIP(host) !== 0;
  const addresses = isAddress ? [host] : await resolve(host);
  if (addresses.length === 0 || addresses.some(isDenied)) throw new OutboundDenied(`${host} is in a private address range`);
  if (isAddress || BY_PROXY) return [{ url, headers }];
  // Where one family leads nowhere, IPv4 more often than not leads on.
  return addresses.toSorted((one, other) => isIP(one) - isIP(other)).map((address) => destination(url, headers, address));
}

/** A proxy between here and the world connects by itself, and may know hosts by their names only. */
const BY_PROXY = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"].some((name) => (process.env[name] ?? "") !== "");

/** Nobody was reached, so the request was not sent. */
const UNREACHED = new Set(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH"]);

/** Whether a fetch failed on a connection that was there: the other side may have what it was sent, or some of it. */
export const wasConnected = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === "ECONNRESET";

/** What the engine calls a head that is not that of an answer in HTTP. */
const UNREADABLE =
  /^(?:Malformed_HTTP_Response|InvalidHTTPResponse|InvalidContentLength|UnrequestedUpgrade|UnsupportedTransferEncoding|ResponseHeadersTooLarge)$/;

/** Whether a fetch failed because what was answered cannot be read. */
export const isUnreadable = (error: unknown): boolean => UNREADABLE.test(String((error as { code?: unknown } | null)?.code));

interface Checks {
  readonly resolve?: Resolve;
  readonly isDenied?: (address: string) => boolean;
}

function bodyOf(body: NonNullable<OutboundInit["body"]>): BodyInit {
  return typeof body === "object" && "open" in body ? body.open() : (body as string | Uint8Array<ArrayBuffer>);
}

export function outbound(options: Checks & { allowPrivate: boolean }): Outbound {
  return {
    async fetch(url, { method, headers, body, abort, timeoutMs }) {
      const { signal } = abort;
      const timer = setTimeout(() => abort.abort(new OutboundTimeout(`no answer within ${timeoutMs} ms`)), timeoutMs);
      try {
        const destinations = options.allowPrivate
          ? [{ url, headers }]
          : await unlessAborted(publicDestinations(url, headers, options), signal);
        for (const [at, { url: to, ...rest }] of destinations.entries()) {
          try {
            const sent = {
              method,
              ...rest,
              ...(body === undefined ? {} : { body: bodyOf(body) }),
              signal,
              redirect: "manual",
              decompress: false,
            } as const;
            return unpacked(await fetch(to, sent));
          } catch (error) {
            if (at + 1 === destinations.length || signal.aborted || !UNREACHED.has(String((error as { code?: unknown }).code))) throw error;
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
