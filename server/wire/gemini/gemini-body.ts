import { type JsonObject, isObject } from "../../kernel/json-value.ts";

/** The body in an event's data; an error may stand in a list of its own. */
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

/** A frame that is no event but the bare text of a JSON body; null for every other. */
export function bareJsonFrame(frame: string): string | null {
  const text = frame.trim();
  return text.startsWith("{") || text.startsWith("[") ? text : null;
}
