import { cancelQuietly } from "../kernel/http/cancel-quietly.ts";
import type { OutboundBytes } from "../kernel/http/outbound-bytes.ts";
import { unlessAborted } from "../kernel/scheduling/unless-aborted.ts";
import { AnsweringFirst } from "./answering-first.ts";
import { DepartingBodies } from "./departing-body.ts";
import { type AddressChecks, portOf, publicDestinations } from "./destinations.ts";
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

export class OutboundTimeout extends Error {}

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

/** Bun would end requests that were silent for five minutes, whatever their own timeout is; its type has no `timeout`. */
const OPTIONS = { redirect: "manual", decompress: false, timeout: false } as const;

export function outbound(options: AddressChecks & { allowPrivate: boolean }): Outbound {
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
