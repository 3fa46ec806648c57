import { type Refusal, refuse } from "../../kernel/errors.ts";
import { isObject, type JsonObject } from "../../wire/document.ts";

const MOST_BYTES = 16 * 1024 * 1024;

/** An answer the gateway needs itself; a refusal when it broke off, took too long, grew past 16 MiB or is no JSON object. */
export async function readJson(response: Response, timeoutMs: number): Promise<{ readonly body: JsonObject } | Refusal> {
  const reader = response.body?.getReader();
  if (reader === undefined) return refuse("upstream_invalid_response");
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    void reader.cancel().catch(() => undefined);
  }, timeoutMs);
  try {
    const pieces: Uint8Array[] = [];
    let length = 0;
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      pieces.push(read.value);
      length += read.value.byteLength;
      if (length > MOST_BYTES) {
        void reader.cancel().catch(() => undefined);
        return refuse("upstream_invalid_response");
      }
    }
    if (late) return refuse("upstream_timeout");
    const value: unknown = JSON.parse(Buffer.concat(pieces).toString("utf8"));
    return isObject(value) ? { body: value } : refuse("upstream_invalid_response");
  } catch {
    return refuse(late ? "upstream_timeout" : "upstream_invalid_response");
  } finally {
    clearTimeout(timer);
  }
}
