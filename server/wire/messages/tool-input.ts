import { isObject, type JsonObject, type JsonValue } from "../document.ts";

/**
 * The object a tool call's arguments are here. Arguments that are no JSON object, as a cut answer leaves them, are
 * wrapped the way the vendor's guides wrap them, so that nobody runs a tool with arguments the model did not give.
 */
export function toolInput(text: string): JsonObject {
  if (text.trim() === "") return {};
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    return { INVALID_JSON: text };
  }
  return isObject(value) ? value : { INVALID_JSON: text };
}
