import { cancelQuietly } from "../../../kernel/http/cancel-quietly.ts";
import { KeepAlives } from "../../../wire/streams/keep-alives.ts";

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/**
 * Reads an event stream, and calls `late` and fails once nothing but keep-alives were waited for longer than `ms`: they are silence as far as
 * the answer is concerned, and would otherwise last as long as the caller does.
 */
export function answeringReader(reader: Reader, ms: number, late: () => void, now: () => number = () => performance.now()): Reader {
  const keepAlives = new KeepAlives();
  let waited = 0;
  return {
    closed: reader.closed,
    cancel: (reason) => reader.cancel(reason),
    releaseLock: () => reader.releaseLock(),
    async read() {
      const since = now();
      const result = await reader.read();
      if (result.value === undefined || !keepAlives.isOnly(result.value)) waited = 0;
      else if ((waited += now() - since) >= ms) {
        late();
        void cancelQuietly(reader);
        throw new Error("nothing but keep-alives arrived");
      }
      return result;
    },
  } as Reader;
}
