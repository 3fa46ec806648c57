import type { JsonObject } from "../../kernel/json-value.ts";
import { exactObject } from "../json/exact-tools.ts";

/**
 * The object a tool call's arguments are here. Arguments that are no JSON object, as a cut answer leaves them, are
 * wrapped the way the vendor's guides wrap them, so that nobody runs a tool with arguments the model did not give.
 */
export function toolInput(text: string): JsonObject {
  return text.trim() === "" ? {} : (exactObject(text) ?? { INVALID_JSON: text });
}
