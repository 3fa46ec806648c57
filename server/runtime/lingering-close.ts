import { cancelQuietly } from "../kernel/http/cancel-quietly.ts";

export interface LingeringBounds {
  /** Bodies declared to be at most this long may simply arrive. */
  readonly smallBytes: number;
  readonly mostBytes: number;
  readonly wholeMs: number;
  /** Longest pause of the upload. */
  readonly idleMs: number;
}

const BOUNDS: LingeringBounds = { smallBytes: 256 * 1024, mostBytes: 64 * 1024 * 1024, wholeMs: 30_000, idleMs: 2_000 };

/**
 * Bounds an upload that goes on after its answer was given: Bun would read it until the client ends it. Closing at once would reset the
 * connection, and clients that first send everything would lose the answer. So the answer is sent, the upload is read for a while longer,
 * and only then the answer ends and the connection is closed.
 */
export function lingering(request: Request, response: Response, bounds: LingeringBounds = BOUNDS): Response {
  const { headers, body: upload } = request;
  const isLong = headers.has("transfer-encoding") || Number(headers.get("content-length") ?? 0) > bounds.smallBytes;
  if (!isLong || upload === null || upload.locked || response.body === null) return response;
  const kept = new Headers(response.headers);
  kept.set("connection", "close");
  return new Response(withUpload(response.body, upload, bounds), { status: response.status, headers: kept });
}

function withUpload(answer: ReadableStream<Uint8Array>, upload: ReadableStream<Uint8Array>, bounds: LingeringBounds) {
  const reader = answer.getReader();
  const leftover = upload.getReader();
  const over = readFor(leftover, bounds).catch(() => undefined);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        await over;
        controller.close();
      },
      async cancel(reason) {
        void cancelQuietly(leftover);
        await cancelQuietly(reader, reason);
      },
    },
    { highWaterMark: 0 },
  );
}

/** Resolves once the upload has ended or exceeds a bound. */
async function readFor(reader: ReadableStreamDefaultReader<Uint8Array>, { mostBytes, wholeMs, idleMs }: LingeringBounds): Promise<void> {
  const until = performance.now() + wholeMs;
  let left = mostBytes;
  while (left > 0) {
    const late = Promise.withResolvers<null>();
    const timer = setTimeout(() => late.resolve(null), Math.min(idleMs, until - performance.now()));
    const next = await Promise.race([reader.read(), late.promise]).finally(() => clearTimeout(timer));
    if (next === null || next.done) return;
    left -= next.value.byteLength;
  }
}
