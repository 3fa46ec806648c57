import { concat } from "../wire/sse-frames.ts";

/** Reads a body to its end; null once it has grown past `maxBytes`, without reading further. Rejects when it breaks off. */
export async function readWithin(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<Uint8Array | null> {
  const reader = body.getReader();
  const parts: Uint8Array[] = [];
  let total = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return parts.length === 0 ? new Uint8Array(0) : concat(parts, total);
    total += value.byteLength;
    if (total > maxBytes) {
      await reader.cancel().catch(() => undefined);
      return null;
    }
    parts.push(value);
  }
}
