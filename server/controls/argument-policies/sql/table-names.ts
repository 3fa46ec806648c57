/**
 * Whether a table named in SQL may be one that a rule names. A rule's name may contain `*`. A name without a schema
 * may be in any schema, so parts are compared from the last one, as far as both names have them. BigQuery's SQL may
 * name all tables with a common prefix by a trailing `*`.
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
