import { isObject, type JsonObject } from "../../wire/document.ts";

const MOST_BYTES = 16 * 1024 * 1024;

/** An answer the gateway needs itself; null when it broke off, took too long, grew past 16 MiB or is no JSON object. */
export async function readJson(response: Response, timeoutMs: number): Promise<JsonObject | null> {
  const reader = response.body?.getReader();
  if (reader === undefined) return null;
  const timer = setTimeout(() => void reader.cancel().catch(() => undefined), timeoutMs);
  try {
    const pieces: Uint8Array[] = [];
    let length = 0;
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      pieces.push(read.value);
      length += read.value.byteLength;
      if (length > MOST_BYTES) {
        void reader.cancel().catch(() => undefined);
        return null;
      }
    }
    const value: unknown = JSON.parse(Buffer.concat(pieces).toString("utf8"));
    return isObject(value) ? value : null;
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}
