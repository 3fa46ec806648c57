import { cancelQuietly } from "../../kernel/http/cancel-quietly.ts";
import { concat } from "../streams/adjoining-bytes.ts";

/**
 * Reads a body to its end; an absent body is empty. Null as soon as it exceeds `maxBytes`, without reading further.
 * Rejects if the body breaks off. After an abort it returns what had arrived, which may be incomplete.
 */
export async function readUpTo(body: ReadableStream<Uint8Array> | null, maxBytes: number, abort?: AbortSignal): Promise<Uint8Array | null> {
  if (body === null) return new Uint8Array(0);
  const reader = body.getReader();
  const leave = () => void cancelQuietly(reader);
  abort?.addEventListener("abort", leave, { once: true });
  const parts: Uint8Array[] = [];
  let total = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return parts.length === 0 ? new Uint8Array(0) : concat(parts, total);
      total += value.byteLength;
      if (total > maxBytes) {
        leave();
        return null;
      }
      parts.push(value);
    }
  } finally {
    abort?.removeEventListener("abort", leave);
  }
}
