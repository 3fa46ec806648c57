import type { Kind } from "./kinds.ts";
import { type ConfigEntry, valueText, type ConfigValue } from "./value.ts";

/** What tells an entry, with names for ids, from all others of its section, where no other has the same key. */
export function entryName(kind: Kind, entry: ConfigEntry): string {
  return kind.key.map((member) => keyText(entry[member])).join(" / ");
}

/** The same where others may have that key. */
export function apartName(kind: Kind, entry: ConfigEntry): string {
  return kind.apart === undefined ? entryName(kind, entry) : `${entryName(kind, entry)} (${kind.apart(entry)})`;
}

/** What each of a section's entries is called: what stands more than once is told apart, at last by its order. */
export function entryNames(kind: Kind, entries: readonly ConfigEntry[]): string[] {
  const all = entries.map((entry) => entryName(kind, entry));
  const apart = entries.map((entry) => apartName(kind, entry));
  const isOnce = (names: readonly string[], name: string) => names.indexOf(name) === names.lastIndexOf(name);
  return entries.map((_entry, at) => {
    const [name = "", other = ""] = [all[at], apart[at]];
    if (isOnce(all, name)) return name;
    if (isOnce(apart, other)) return other;
    return `${other} ${apart.slice(0, at + 1).filter((one) => one === other).length}`;
  });
}

/**
 * Which record each entry is meant to be: the one that is like it in all that tells records apart, else one of its key that is left,
 * else the one that has what no two can have.
 */
export function recordsOf<R extends { readonly entry: ConfigEntry }>(
  kind: Kind,
  entries: readonly ConfigEntry[],
  records: readonly R[],
): (R | undefined)[] {
  const left = new Set(records);
  const take = (is: (record: R) => boolean): R | undefined => {
    const found = [...left].find(is);
    if (found !== undefined) left.delete(found);
    return found;
  };
  const alike = entries.map((entry) => take((record) => apartName(kind, record.entry) === apartName(kind, entry)));
  const known = entries.map((entry, at) => alike[at] ?? take((record) => entryName(kind, record.entry) === entryName(kind, entry)));
  const { alone } = kind;
  return alone === undefined ? known : entries.map((entry, at) => known[at] ?? take((record) => alone(record.entry) === alone(entry)));
}

function keyText(value: ConfigValue | undefined): string {
  return Array.isArray(value) ? value.map(valueText).toSorted().join(", ") : valueText(value);
}
