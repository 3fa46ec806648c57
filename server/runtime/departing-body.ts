import { BoundedCache } from "../kernel/collections/bounded-cache.ts";
import type { OutboundBytes } from "../kernel/http/outbound-bytes.ts";

/** For how long after an answer connections to its host are assumed to be accepted. */
const ANSWERED_MS = 1_000;
const MAX_KNOWN = 10_000;
const LAZY = { highWaterMark: 0 };

export interface DepartingBody {
  readonly body: BodyInit;
  readonly headers: Headers | Record<string, string>;
  /** Whether `departed` is called as soon as the connection takes the body; otherwise nobody can tell. */
  readonly isWatched: boolean;
}

/**
 * Tells whether a request ever left. Bun reports nothing about a connection, but reads a streamed body only once there is one, with TLS in
 * place. As a stream costs more than a string, it is left out for hosts that answered just now.
 */
export class DepartingBodies {
  private readonly answering: BoundedCache<true>;

  constructor(now: () => number = () => performance.now()) {
    this.answering = new BoundedCache(MAX_KNOWN, now);
  }

  answered(url: string): void {
    this.answering.set(originOf(url), true, ANSWERED_MS);
  }

  of(
    url: string,
    body: string | Uint8Array | OutboundBytes,
    headers: Headers | Record<string, string>,
    departed: (() => void) | undefined,
  ): DepartingBody {
    if (typeof body === "object" && "open" in body)
      return { body: departed === undefined ? body.open() : watched(body.open(), departed), headers, isWatched: departed !== undefined };
    if (departed === undefined || this.answering.get(originOf(url)) === true)
      return { body: body as string | Uint8Array<ArrayBuffer>, headers, isWatched: false };
    const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
    // Without a length the body would be sent chunked, which some servers refuse.
    const sized = new Headers(headers);
    sized.set("content-length", String(bytes.byteLength));
    return { body: once(bytes, departed), headers: sized, isWatched: true };
  }
}

function originOf(url: string): string {
  const end = url.indexOf("/", url.indexOf("://") + 3);
  return end === -1 ? url : url.slice(0, end);
}

function once(bytes: Uint8Array, departed: () => void): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        departed();
        if (bytes.byteLength > 0) controller.enqueue(bytes);
        controller.close();
      },
    },
    LAZY,
  );
}

function watched(inner: ReadableStream<Uint8Array>, departed: () => void): ReadableStream<Uint8Array> {
  const reader = inner.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        departed();
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    LAZY,
  );
}
