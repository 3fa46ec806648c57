const encoder = new TextEncoder();

/** Sent at once if the first event may take long: response headers are only sent with the first bytes. */
export const KEEP_ALIVE = encoder.encode(": keep-alive\n\n");

/** Milliseconds of silence after which a keep-alive comment is sent. */
export const KEEP_ALIVE_MS = 25_000;

/**
 * Adds a keep-alive comment to the stream after every `everyMs` milliseconds of silence, so that proxies keep the connection open. Calls
 * `limit.over` once a silence has lasted `limit.ms`.
 */
export function withKeepAlive(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  everyMs: number,
  limit: { readonly ms: number; readonly over: () => void } | null = null,
): ReadableStreamDefaultReader<Uint8Array> {
  let pending: ReturnType<typeof reader.read> | null = null;
  let since = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (pending === null) {
          pending = reader.read();
          since = performance.now();
        }
        const left = limit === null ? 0 : since + limit.ms - performance.now();
        let timer: ReturnType<typeof setTimeout> | undefined;
        const silence = new Promise<"silent">((resolve) => {
          timer = setTimeout(() => resolve("silent"), left > 0 ? Math.min(left, everyMs) : everyMs);
        });
        const next = await Promise.race([pending, silence]).finally(() => clearTimeout(timer));
        if (next === "silent") {
          controller.enqueue(KEEP_ALIVE);
          if (limit !== null && performance.now() - since >= limit.ms) limit.over();
          return;
        }
        pending = null;
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  ).getReader();
}
