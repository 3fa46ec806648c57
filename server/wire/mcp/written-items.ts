import { exactlyWritten } from "../../kernel/text/exact-numbers.ts";
import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { jsonItemsOf } from "../json/json-members.ts";
import { memberText } from "./rpc.ts";

/**
 * What is left of a list as JSON texts, each item as `change` gives it: one that stays as it came keeps its spelling, and the numbers of
 * any other their digits. `left` are items of the list that stands in `result`, whose text is `source`, under `name`, in their order; one
 * of them may be another object if it has the same name.
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
