import type { Tree } from "./parsers.ts";

/** The texts in a list of `String` nodes. */
export function stringsOf(list: Tree): string[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((item) => {
    const text = (item as { String?: { sval?: unknown } }).String?.sval;
    return typeof text === "string" ? [text] : [];
  });
}

/** Names in statements such as DROP, GRANT and COMMENT, whose trees have bare lists of names instead of tables. */
export function namesIn(tree: Tree): string[] {
  if (Array.isArray(tree)) {
    const own = stringsOf(tree);
    return [...(own.length > 0 ? [dotted(own)] : []), ...tree.flatMap(namesIn)];
  }
  return typeof tree === "object" && tree !== null ? Object.values(tree).flatMap(namesIn) : [];
}

export function dotted(parts: readonly Tree[]): string {
  return parts
    .filter((part): part is string => typeof part === "string" && part !== "")
    .join(".")
    .toLowerCase();
}
