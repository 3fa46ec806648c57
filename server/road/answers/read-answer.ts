import { eventLoopBatch } from "../../kernel/scheduling/event-loop-batch.ts";
import { readUpTo } from "../../wire/http/read-up-to.ts";

/** The largest whole answer the gateway holds in memory for one call. */
const MAX_BYTES = 64 * 1024 * 1024;

const answered = eventLoopBatch();

/**
 * Reads an upstream's answer to its end; answers that arrive together continue together. Rejects if the answer breaks off or exceeds the
 * limit.
 */
export async function readAnswerBody(response: Response): Promise<Uint8Array> {
  const { headers } = response;
  // The length of a compressed answer does not bound its decompressed size.
  const declared = headers.has("content-encoding")
    ? Number.POSITIVE_INFINITY
    : Number(headers.get("content-length") ?? Number.POSITIVE_INFINITY);
  // An answer of known length can be read at once; others are counted as they arrive.
  if (declared <= MAX_BYTES) {
    const whole = await response.arrayBuffer();
    await answered();
    return new Uint8Array(whole);
  }
  if (response.body === null) return new Uint8Array(0);
  const body = await readUpTo(response.body, MAX_BYTES);
  if (body === null) throw new Error("the answer is larger than 64 MiB");
  return body;
}
