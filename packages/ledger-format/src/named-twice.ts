const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\]:]/g;
/** Depth to check: the line itself, and the row or entry in it. Nothing deeper is hashed as a field of its own. */
const MAX_DEPTH = 2;

/**
 * A duplicate member name in the line's object or one level below; null if there is none. Parsers differ in which duplicate they keep, so
 * others could read something else than what was verified. `line` must be JSON, and `value` its parsed form.
 */
export function namedTwice(line: string, value: unknown): string | null {
  if (isWrittenFrom(value, line)) return null;
  const open: Set<string>[] = [];
  let last = "";
  for (const [token] of line.matchAll(TOKENS)) {
    if (token === "{" || token === "[") open.push(new Set());
    else if (token === "}" || token === "]") open.pop();
    else if (token === ":" && open.length <= MAX_DEPTH) {
      const name = JSON.parse(last) as string;
      const names = open.at(-1);
      if (names?.has(name) === true) return name;
      names?.add(name);
    }
    last = token;
  }
  return null;
}

/** A serialized value has no duplicate names, and nearly every line is one. */
function isWrittenFrom(value: unknown, line: string): boolean {
  try {
    return JSON.stringify(value) === line;
  } catch {
    // Nested too deeply to be serialized.
    return false;
  }
}
