import { concat } from "../../wire/sse-frames.ts";

/** The largest whole answer the gateway holds in memory for one call. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Reads a body to its end. Rejects when it breaks off or grows past the bound. */
export async function readBounded(body: ReadableStream<Uint8Array> | null): Promise<Uint8Array> {
  if (body === null) return new Uint8Array(0);
  const reader = body.getReader();
  const parts: Uint8Array[] = [];
  let total = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return parts.length === 0 ? new Uint8Array(0) : concat(parts, total);
    total += value.byteLength;
    if (total > MAX_BYTES) {
      await reader.cancel().catch(() => undefined);
      throw new Error("the answer is larger than 64 MiB");
    }
    parts.push(value);
  }
}
