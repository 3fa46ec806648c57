import { ambiguousName } from "../../wire/ambiguous-name.ts";
import type { JsonValue } from "../../wire/document.ts";
import { folded } from "../../wire/folded-name.ts";
import { repeatedName } from "../../wire/repeated-name.ts";

/** What a policy's key names in a tool call's arguments: values to judge (none when the key is absent), or why they cannot be read. */
export type ArgumentValues =
  | { readonly kind: "values"; readonly values: readonly unknown[] }
  | { readonly kind: "unreadable"; readonly why: string };

const DEPTH = 64;

/**
 * Finds the values at a dotted key in a tool call's arguments, a JSON text. A list on the way is looked into item by
 * item, and a list at the end gives each of its items unless `whole`. Empty text is an object without members, as
 * models send it. A name that stands twice in an object makes the arguments unreadable, because the tool may see the
 * other one.
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
  if (key === null) return { kind: "values", values: [parsed] };
  if (typeof parsed !== "object" || parsed === null) return { kind: "unreadable", why: "The arguments are not a JSON object." };
  const found = Object.hasOwn(parsed, key) ? [(parsed as Record<string, unknown>)[key]] : at(parsed, key.split("."));
  if (found.includes(PRETENDER) || (key.includes(".") && found.length === 0 && pretends(parsed, key)))
    return { kind: "unreadable", why: `The arguments name ${JSON.stringify(key)} in another spelling.` };
  return { kind: "values", values: whole ? found : found.flatMap((value) => (Array.isArray(value) ? value.flat(DEPTH) : [value])) };
}

/** Stands for a value under a name that a reader who does not care about case takes for the one that is asked for. */
const PRETENDER = Symbol();

function pretends(object: object, name: string): boolean {
  const wanted = folded(name);
  return Object.keys(object).some((one) => one !== name && folded(one) === wanted);
}

/** Whether any object in the value has a name that is one of these in another spelling. `names` are by their folding. */
export function hasPretender(value: unknown, names: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== "object" || next === null) continue;
    if (!Array.isArray(next)) for (const name of Object.keys(next)) if (names.get(folded(name))?.has(name) === false) return true;
    open.push(...(Object.values(next) as unknown[]));
  }
  return false;
}

function at(value: unknown, path: readonly string[]): unknown[] {
  const [first, ...rest] = path;
  if (first === undefined) return [value];
  if (typeof value !== "object" || value === null) return [];
  if (Object.hasOwn(value, first)) return at((value as Record<string, unknown>)[first], rest);
  if (Array.isArray(value)) return value.flatMap((item) => at(item, path));
  return pretends(value, first) ? [PRETENDER] : [];
}
