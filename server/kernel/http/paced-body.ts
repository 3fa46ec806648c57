import { cancelQuietly } from "./cancel-quietly.ts";
/** Longest pause in a body, and longest time for all of it, in milliseconds. */
const IDLE_MS = 60_000;
const MAX_DURATION_MS = 3_600_000;

/** The body paused or took too long. */
export class BodyTooSlow extends Error {}

/** Yields the chunks of a body as they arrive. Throws `BodyTooSlow`. */
export async function* pacedBody(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  const until = performance.now() + MAX_DURATION_MS;
  try {
    for (;;) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new BodyTooSlow("the body came too slowly")), Math.min(IDLE_MS, until - performance.now()));
      });
      const { done, value } = await Promise.race([reader.read(), late]).finally(() => clearTimeout(timer));
      if (done) return;
      yield value;
    }
  } finally {
    void cancelQuietly(reader);
  }
}
