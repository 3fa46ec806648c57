import { ambiguousName } from "../../wire/json/ambiguous-name.ts";
import { exactReading } from "../../kernel/text/exact-numbers.ts";
import type { JsonValue } from "../../kernel/json-value.ts";
import { repeatedName } from "../../wire/json/repeated-name.ts";
import { hasVariantOf, VARIANT_OF_NAME } from "./name-variants.ts";

/** The values at a policy's key in a tool call's arguments (none if the key is absent), or why they cannot be read. */
export type ArgumentValues =
  | { readonly kind: "values"; readonly values: readonly unknown[] }
  | { readonly kind: "unreadable"; readonly why: string };

const DEPTH = 64;

/**
 * Finds the values at a dotted key in a tool call's arguments (JSON text). Arrays along the path are searched item by
 * item, and an array at the end yields each of its items unless `whole`; numbers that JavaScript would round are then
 * kept as raw JSON. Empty text counts as an object without members, because models send it. Arguments with a repeated
 * member name are unreadable, because the tool may see the other one.
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
  // The schema validator needs plain numbers; it cannot read raw JSON.
  if (!whole) parsed = exactReading(text) ?? parsed;
  if (key === null) return { kind: "values", values: [parsed] };
  if (typeof parsed !== "object" || parsed === null) return { kind: "unreadable", why: "The arguments are not a JSON object." };
  // The tool may read either, so a member with dots in its name must not hide the value at the path.
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
  // `length` of an array is a property of JavaScript, not an argument.
  if (Object.hasOwn(value, first) && !(first === "length" && Array.isArray(value)))
    return at((value as Record<string, unknown>)[first], rest);
  if (Array.isArray(value)) return value.flatMap((item) => at(item, path));
  return hasVariantOf(value, first) ? [VARIANT_OF_NAME] : [];
}
