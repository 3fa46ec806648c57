import { exactlyWritten } from "../../kernel/text/exact-numbers.ts";
import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { jsonItemsOf } from "../json/json-members.ts";
import { memberText } from "./rpc.ts";

/**
 * Serializes the remaining items of a list after applying `change`: unchanged items keep their source text, changed ones
 * the digits of their numbers. `left` are items of `result[name]` in their order, and `source` is the text of `result`. An
 * item may be a different object if it has the same name.
 */
export function writtenItems(
  source: string,
  result: JsonObject,
  name: string,
  left: readonly JsonValue[],
  change: (item: JsonObject) => JsonObject = (item) => item,
): string[] {
  const list = result[name];
  if (!Array.isArray(list)) return [];
  const texts = jsonItemsOf(memberText(source, name) ?? "[]");
  let at = -1;
  return left.map((item) => {
    do at++;
    while (at < list.length && !isSame(list[at], item));
    const text = texts[at];
    if (text === undefined) throw new Error("an item is left that was not in the list");
    const changed = isObject(item) ? change(item) : item;
    return changed === list[at] ? text : exactlyWritten(changed, text);
  });
}

function isSame(one: JsonValue | undefined, other: JsonValue): boolean {
  return one === other || (isObject(one) && isObject(other) && one.name !== undefined && one.name === other.name);
}
