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
