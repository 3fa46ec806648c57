import { isConfigEntry, type ConfigEntry, type ConfigValue } from "./value.ts";

/** Changes the value at a path; a missing path stays missing. `members.*.id` means in every item of a list. */
export function changeAt(
  entry: ConfigEntry,
  place: string,
  change: (value: ConfigValue, at: string) => ConfigValue | undefined,
): ConfigEntry {
  return changed(entry, place.split("."), "", change) as ConfigEntry;
}

function changed(
  value: ConfigValue,
  [first, ...rest]: readonly string[],
  at: string,
  change: (value: ConfigValue, at: string) => ConfigValue | undefined,
): ConfigValue | undefined {
  if (first === undefined) return change(value, at);
  if (first === "*")
    return Array.isArray(value)
      ? (value as readonly ConfigValue[]).map((item, n) => changed(item, rest, `${at}[${n}]`, change) ?? null)
      : value;
  if (!isConfigEntry(value) || value[first] === undefined) return value;
  const now = changed(value[first], rest, at === "" ? first : `${at}.${first}`, change);
  const { [first]: _, ...others } = value;
  return now === undefined ? others : { ...value, [first]: now };
}

/** Removes the values at these paths. */
export function withoutPlaces(entry: ConfigEntry, places: readonly string[]): ConfigEntry {
  return places.reduce((left, place) => changeAt(left, place, () => undefined), entry);
}

/** The texts at a path such as `members.*.mcp_server_id`, each with where it was found. */
export function valuesAt(entry: ConfigEntry, place: string): [string, string][] {
  const found: [string, string][] = [];
  changeAt(entry, place, (value, at) => {
    for (const one of Array.isArray(value) ? value : [value]) if (typeof one === "string") found.push([at, one]);
    return value;
  });
  return found;
}
