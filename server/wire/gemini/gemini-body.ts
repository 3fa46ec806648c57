import { type JsonObject, isObject } from "../../kernel/json-value.ts";

/** The body in an event's data; an error may be wrapped in an array. */
export function bodyIn(data: string): JsonObject | null {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    return null;
  }
  const body: unknown = Array.isArray(value) ? value[0] : value;
  return isObject(body) ? body : null;
}

/** The JSON text of a frame that is not an SSE event but bare JSON; null for any other frame. */
export function bareJsonFrame(frame: string): string | null {
  const text = frame.trim();
  return text.startsWith("{") || text.startsWith("[") ? text : null;
}
