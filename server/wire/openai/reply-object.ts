import { isObject, type JsonObject } from "../../kernel/json-value.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });

/** The JSON object in an answer's bytes; null if there is none. */
export function replyObject(bytes: Uint8Array): JsonObject | null {
  try {
    const body: unknown = JSON.parse(decoder.decode(bytes));
    return isObject(body) ? body : null;
  } catch {
    return null;
  }
}

/**
 * Whether an answer with a success status reports a failure, as some servers do: an error in place of the answer or next
 * to an empty one, or an object with neither an answer nor usage.
 */
export function tellsFailure(body: JsonObject, answer: string): boolean {
  const answered = body[answer];
  const hasError = (body.error ?? null) !== null;
  if (!Array.isArray(answered)) return hasError || !isObject(body.usage);
  // A Responses object has a status, and in a failed one the format itself has both.
  return hasError && answered.length === 0 && body.status === undefined;
}
