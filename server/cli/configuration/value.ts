import { isObject } from "../../kernel/json-value.ts";
/** The values in a configuration file. */
export type ConfigValue = null | boolean | number | string | readonly ConfigValue[] | { readonly [name: string]: ConfigValue };
export type ConfigEntry = { readonly [name: string]: ConfigValue };

export function isConfigEntry(value: unknown): value is ConfigEntry {
  return isObject(value);
}

export function valueText(value: ConfigValue | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}

/** The order of members does not matter; the order of items does. */
export function isSame(a: ConfigValue | undefined, b: ConfigValue | undefined): boolean {
  return valueText(sorted(a ?? null)) === valueText(sorted(b ?? null));
}

const MOMENT = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/;

/** Same except for what the gateway may normalise: surrounding spaces and timestamps. */
export function isSpelledAlike(a: ConfigValue, b: ConfigValue): boolean {
  return isSame(spelled(a), spelled(b));
}

function spelled(value: ConfigValue): ConfigValue {
  if (Array.isArray(value)) return (value as readonly ConfigValue[]).map(spelled);
  if (isConfigEntry(value)) return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, spelled(member)]));
  if (typeof value !== "string") return value;
  return MOMENT.test(value) && !Number.isNaN(Date.parse(value)) ? new Date(value).toISOString() : value.trim();
}

function sorted(value: ConfigValue): ConfigValue {
  if (Array.isArray(value)) return (value as readonly ConfigValue[]).map(sorted);
  if (!isConfigEntry(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, sorted(value[name] ?? null)]),
  );
}

/** Removes, at any depth, members that are null or empty objects, for documents in which these mean the same as absent. */
export function withoutNothing(value: ConfigValue): ConfigValue {
  if (!isConfigEntry(value)) return value;
  const members = Object.entries(value).map(([name, member]): [string, ConfigValue] => [name, withoutNothing(member)]);
  return Object.fromEntries(
    members.filter(([, member]) => member !== null && !(isConfigEntry(member) && Object.keys(member).length === 0)),
  );
}
