/**
 * Whether a table as the SQL names it may be one a rule names. A rule's name may hold `*`. A name without a schema may
 * be found in any, so parts are compared from the last one on, as far as both have them. In BigQuery the SQL may name all tables whose
 * names begin alike, by a `*` at the end.
 */
export function mayName(table: string, pattern: string): boolean {
  const named = partsOf(table);
  const wanted = partsOf(pattern);
  for (let i = 1; i <= Math.min(named.length, wanted.length); i++) {
    if (!matches(named.at(-i) ?? "", wanted.at(-i) ?? "")) return false;
  }
  return true;
}

function partsOf(name: string): string[] {
  return name
    .toLowerCase()
    .split(".")
    .map((part) => part.replace(/["`[\]]/g, "").trim());
}

function matches(name: string, pattern: string): boolean {
  const pieces = pattern.split("*");
  const [first = "", ...rest] = pieces;
  if (name.endsWith("*")) {
    const begins = name.slice(0, -1);
    return first.startsWith(begins) || (rest.length > 0 && begins.startsWith(first));
  }
  if (rest.length === 0) return name === pattern;
  if (!name.startsWith(first)) return false;
  const last = rest.pop() ?? "";
  let at = first.length;
  for (const piece of rest) {
    const found = name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}
