import { concat } from "../../wire/sse-frames.ts";

/** The largest whole answer the gateway holds in memory for one call. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Reads an answer to its end. Rejects when it breaks off or grows past the bound. */
export async function readBounded(response: Response): Promise<Uint8Array> {
  const declared = Number(response.headers.get("content-length") ?? Number.POSITIVE_INFINITY);
  // An answer that says how long it is comes in one piece; a stream has to be counted as it comes.
  if (declared <= MAX_BYTES) return new Uint8Array(await response.arrayBuffer());
  if (response.body === null) return new Uint8Array(0);
  const reader = response.body.getReader();
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
