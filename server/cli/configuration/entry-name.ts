import type { Kind } from "./kinds.ts";
import { type ConfigEntry, valueText, type ConfigValue } from "./value.ts";

/** The name of an entry, whose references are names, within its section; unique if its key is. */
export function entryName(kind: Kind, entry: ConfigEntry): string {
  return kind.key.map((member) => keyText(entry[member])).join(" / ");
}

/** The same for sections where several entries may have that key. */
export function apartName(kind: Kind, entry: ConfigEntry): string {
  return kind.apart === undefined ? entryName(kind, entry) : `${entryName(kind, entry)} (${kind.apart(entry)})`;
}

/** The names of a section's entries: duplicates get distinguishing details or, as a last resort, numbers. */
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
 * Which record each entry refers to: one that matches in every distinguishing property, otherwise an unused one with its key, otherwise the
 * one with its unique property.
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
