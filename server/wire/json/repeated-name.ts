import { jsonStringAt } from "./json-leaves.ts";
import { afterString, CLOSE_BRACE, CLOSE_BRACKET, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from "./json-members.ts";

/**
 * The first duplicate member name within one object of the text, at any depth; null if there is none. `text` must be valid
 * JSON, and `value` its parsed form.
 */
export function repeatedName(text: string, value: unknown): string | null {
  if (isWrittenFrom(value, text)) return null;
  // Null stands for an array, whose strings are not names.
  const open: (Set<string> | null)[] = [];
  let names: Set<string> | null = null;
  let expectsName = false;
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    let end = at + 1;
    if (code === QUOTE) {
      end = afterString(text, at);
      if (expectsName && names !== null) {
        const name = jsonStringAt(text, at, end);
        if (names.has(name)) return name;
        names.add(name);
        expectsName = false;
      }
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      names = code === OPEN_BRACE ? new Set() : null;
      open.push(names);
      expectsName = names !== null;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      open.pop();
      names = open.at(-1) ?? null;
      expectsName = false;
    } else if (code === COMMA) expectsName = names !== null;
    at = end;
  }
  return null;
}

/**
 * Serialized values have no duplicates and most clients send exactly such text, so comparing is a shortcut that takes a
 * fifth of the time.
 */
function isWrittenFrom(value: unknown, text: string): boolean {
  try {
    return JSON.stringify(value) === text;
  } catch {
    // Nested too deeply to serialize.
    return false;
  }
}
