/** What a file of configuration is made of. */
export type ConfigValue = null | boolean | number | string | readonly ConfigValue[] | { readonly [name: string]: ConfigValue };
export type ConfigEntry = { readonly [name: string]: ConfigValue };

export function isConfigEntry(value: unknown): value is ConfigEntry {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function valueText(value: ConfigValue | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}

/** Members in any order are the same object; items in another order are another list. */
export function isSame(a: ConfigValue | undefined, b: ConfigValue | undefined): boolean {
  return valueText(sorted(a ?? null)) === valueText(sorted(b ?? null));
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
