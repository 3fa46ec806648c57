import { eventLoopBatch } from "../../kernel/scheduling/event-loop-batch.ts";
import { readUpTo } from "../../wire/http/read-up-to.ts";

/** The largest whole answer the gateway holds in memory for one call. */
const MAX_BYTES = 64 * 1024 * 1024;

const answered = eventLoopBatch();

/**
 * Reads an upstream's answer to its end; answers that arrive together go on together. Rejects when it breaks off or grows past the bound.
 */
export async function readAnswerBody(response: Response): Promise<Uint8Array> {
  const { headers } = response;
  // The length of a packed answer says nothing of what comes out of it.
  const declared = headers.has("content-encoding")
    ? Number.POSITIVE_INFINITY
    : Number(headers.get("content-length") ?? Number.POSITIVE_INFINITY);
  // An answer that says how long it is comes in one piece; a stream has to be counted as it comes.
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
