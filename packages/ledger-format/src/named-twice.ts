const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\]:]/g;
/** The line itself, and the row or entry in it: what lies deeper no hash of a field is worked out from by itself. */
const DEEPEST = 2;

/**
 * The member that stands twice in the object of a line or right below it; null when none does. Parsers differ in which of the two
 * they take, so that what one verifies another reads otherwise. `line` must be JSON, and `value` what it was parsed to.
 */
export function namedTwice(line: string, value: unknown): string | null {
  if (isWrittenFrom(value, line)) return null;
  const open: Set<string>[] = [];
  let last = "";
  for (const [token] of line.matchAll(TOKENS)) {
    if (token === "{" || token === "[") open.push(new Set());
    else if (token === "}" || token === "]") open.pop();
    else if (token === ":" && open.length <= DEEPEST) {
      const name = JSON.parse(last) as string;
      const names = open.at(-1);
      if (names?.has(name) === true) return name;
      names?.add(name);
    }
    last = token;
  }
  return null;
}

/** What is written from a value names nothing twice, and nearly all lines are. */
function isWrittenFrom(value: unknown, line: string): boolean {
  try {
    return JSON.stringify(value) === line;
  } catch {
    // Nested too deeply to be written.
    return false;
  }
}
