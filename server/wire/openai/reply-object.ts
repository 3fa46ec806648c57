import { isObject, type JsonObject } from "../../kernel/json-value.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });

/** The JSON object that the bytes of an answer hold; null when they do not. */
export function replyObject(bytes: Uint8Array): JsonObject | null {
  try {
    const body: unknown = JSON.parse(decoder.decode(bytes));
    return isObject(body) ? body : null;
  } catch {
    return null;
  }
}

/**
 * Some servers tell of a failure under the status of a success: an error in the place of the member that holds the answer, or beside
 * one with nothing in it, or an object that is of another kind, with neither an answer nor the tokens it took.
 */
export function tellsFailure(body: JsonObject, answer: string): boolean {
  const answered = body[answer];
  const hasError = (body.error ?? null) !== null;
  if (!Array.isArray(answered)) return hasError || !isObject(body.usage);
  // A response has a status, and where that is a failure both are there in the format itself.
  return hasError && answered.length === 0 && body.status === undefined;
}
