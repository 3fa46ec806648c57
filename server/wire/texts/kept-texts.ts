import { isStorableText } from "../../kernel/text/storable.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import type { FieldProblem } from "../json/document.ts";

const MAX_LENGTH = 255;

/**
 * The problems with optional or null members that are stored with the result of a request (`chat_id`, `display_name`).
 * They are checked before a model is called, because its result could not be stored with invalid ones.
 */
export function storedTextProblems(value: JsonObject, names: readonly string[]): FieldProblem[] {
  return names.flatMap((field) => {
    const text = value[field] ?? null;
    if (text === null) return [];
    if (typeof text !== "string" || text.length > MAX_LENGTH)
      return [{ field, message: `must be a text of at most ${MAX_LENGTH} characters` }];
    return isStorableText(text) ? [] : [{ field, message: "holds a NUL or half a surrogate pair" }];
  });
}
