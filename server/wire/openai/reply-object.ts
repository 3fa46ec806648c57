import { isObject, type JsonObject } from "../document.ts";

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

/** Some servers tell of a failure under the status of a success: an error in the place of the member that holds the answer. */
export function tellsFailure(body: JsonObject, answer: string): boolean {
  return (body.error ?? null) !== null && !Array.isArray(body[answer]);
}
