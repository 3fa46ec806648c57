import { ambiguousName } from "../../wire/json/ambiguous-name.ts";
import { exactReading } from "../../kernel/text/exact-numbers.ts";
import type { JsonValue } from "../../kernel/json-value.ts";
import { repeatedName } from "../../wire/json/repeated-name.ts";
import { hasVariantOf, VARIANT_OF_NAME } from "./name-variants.ts";

/** What a policy's key names in a tool call's arguments: values to judge (none when the key is absent), or why they cannot be read. */
export type ArgumentValues =
  | { readonly kind: "values"; readonly values: readonly unknown[] }
  | { readonly kind: "unreadable"; readonly why: string };

const DEPTH = 64;

/**
 * Finds the values at a dotted key in a tool call's arguments, a JSON text. A list on the way is looked into item by
 * item, and a list at the end gives each of its items unless `whole`; a number that this process would round is then raw
 * JSON. Empty text is an object without members, as models send it. A name that stands twice in an object makes the
 * arguments unreadable, because the tool may see the other one.
 */
export function argumentValues(text: string, key: string | null, whole: boolean): ArgumentValues {
  if (text.trim() === "") return { kind: "values", values: key === null ? [{}] : [] };
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
    if (repeatedName(text, parsed) !== null || ambiguousName({ arguments: parsed as JsonValue }) !== null)
      return { kind: "unreadable", why: "The arguments name a member twice." };
  } catch {
    return { kind: "unreadable", why: "The arguments are not JSON." };
  }
  // A schema is asked of numbers only: it cannot read raw JSON.
  if (!whole) parsed = exactReading(text) ?? parsed;
  if (key === null) return { kind: "values", values: [parsed] };
  if (typeof parsed !== "object" || parsed === null) return { kind: "unreadable", why: "The arguments are not a JSON object." };
  // Which of the two the tool goes by is not known: a member with dots in its name hides nothing that stands at the path.
  const named = key.includes(".") && Object.hasOwn(parsed, key) ? [(parsed as Record<string, unknown>)[key]] : [];
  const found = [...named, ...at(parsed, key.split("."))];
  if (found.includes(VARIANT_OF_NAME) || (key.includes(".") && found.length === 0 && hasVariantOf(parsed, key)))
    return { kind: "unreadable", why: `The arguments name ${JSON.stringify(key)} in another spelling.` };
  return { kind: "values", values: whole ? found : found.flatMap((value) => (Array.isArray(value) ? value.flat(DEPTH) : [value])) };
}

function at(value: unknown, path: readonly string[]): unknown[] {
  const [first, ...rest] = path;
  if (first === undefined) return [value];
  if (typeof value !== "object" || value === null) return [];
  // A list has a length of its own, which no argument is.
  if (Object.hasOwn(value, first) && !(first === "length" && Array.isArray(value)))
    return at((value as Record<string, unknown>)[first], rest);
  if (Array.isArray(value)) return value.flatMap((item) => at(item, path));
  return hasVariantOf(value, first) ? [VARIANT_OF_NAME] : [];
}
