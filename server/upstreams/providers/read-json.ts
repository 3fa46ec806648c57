import { type Refusal, refuse } from "../../kernel/errors.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { readUpTo } from "../../wire/http/read-up-to.ts";

/** Larger than any answer without media. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Reads an answer that the gateway itself needs; a refusal if it breaks off, takes too long, exceeds `mostBytes` or is not a JSON object.
 */
export async function readJson(
  response: Response,
  timeoutMs: number,
  mostBytes = MAX_BYTES,
): Promise<{ readonly body: JsonObject; readonly bytes: number } | Refusal> {
  if (response.body === null) return refuse("upstream_invalid_response");
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeoutMs);
  try {
    const bytes = await readUpTo(response.body, mostBytes, late.signal);
    if (late.signal.aborted) return refuse("upstream_timeout");
    if (bytes === null) return refuse("upstream_invalid_response");
    const value: unknown = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8"));
    return isObject(value) ? { body: value, bytes: bytes.byteLength } : refuse("upstream_invalid_response");
  } catch {
    return refuse(late.signal.aborted ? "upstream_timeout" : "upstream_invalid_response");
  } finally {
    clearTimeout(timer);
  }
}
