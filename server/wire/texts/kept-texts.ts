import { isStorableText } from "../../kernel/text/storable.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import type { FieldProblem } from "../json/document.ts";

const LONGEST = 255;

/**
 * What is wrong with members of a request that are kept with what it makes (`chat_id`, `display_name`). Each may be left
 * out or null. They are looked at before a model is asked: what it made could not be kept with them.
 */
export function keptTextProblems(value: JsonObject, names: readonly string[]): FieldProblem[] {
  return names.flatMap((field) => {
    const text = value[field] ?? null;
    if (text === null) return [];
    if (typeof text !== "string" || text.length > LONGEST) return [{ field, message: `must be a text of at most ${LONGEST} characters` }];
    return isStorableText(text) ? [] : [{ field, message: "holds a NUL or half a surrogate pair" }];
  });
}
