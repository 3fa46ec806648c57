import type { JsonObject } from "../../kernel/json-value.ts";
import { exactObject } from "../json/exact-tools.ts";

/**
 * A tool call's arguments as an object. Arguments that are not a JSON object, as in a truncated answer, are wrapped as in
 * the vendor's guides, so that no tool runs with arguments that the model did not give.
 */
export function toolInput(text: string): JsonObject {
  return text.trim() === "" ? {} : (exactObject(text) ?? { INVALID_JSON: text });
}
