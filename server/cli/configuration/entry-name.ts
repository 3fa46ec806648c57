import type { Kind } from "./kinds.ts";
import { type ConfigEntry, valueText, type ConfigValue } from "./value.ts";

/** What tells an entry, with names for ids, from all others of its section. */
export function entryName(kind: Kind, entry: ConfigEntry): string {
  return kind.key.map((member) => keyText(entry[member])).join(" / ");
}

function keyText(value: ConfigValue | undefined): string {
  return Array.isArray(value) ? value.map(valueText).toSorted().join(", ") : valueText(value);
}
