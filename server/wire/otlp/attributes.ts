/** OTLP attributes (AnyValue in JSON) as plain values. 64-bit integers may be strings or numbers. */
export type Attributes = Readonly<Record<string, unknown>>;

const MAX_DEPTH = 16;

export const attributesOf = (list: unknown): Attributes => membersOf(list, 0);

/** The key-value pairs of a list, without invalid ones. */
function membersOf(list: unknown, depth: number): Attributes {
  const pairs = (Array.isArray(list) ? list : []) as ({ key?: unknown; value?: unknown } | null)[];
  return Object.fromEntries(pairs.flatMap((pair) => (typeof pair?.key === "string" ? [[pair.key, plain(pair.value, depth)]] : [])));
}

function plain(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return null;
  const any = value as Record<string, unknown>;
  if (typeof any.stringValue === "string") return any.stringValue;
  if (typeof any.boolValue === "boolean") return any.boolValue;
  if (any.intValue !== undefined) return integer(any.intValue);
  if (any.doubleValue !== undefined) return Number.isFinite(Number(any.doubleValue)) ? Number(any.doubleValue) : String(any.doubleValue);
  if (typeof any.bytesValue === "string") return any.bytesValue;
  const list = (any.arrayValue as { values?: unknown } | undefined)?.values;
  if (any.arrayValue !== undefined) return Array.isArray(list) ? list.map((item) => plain(item, depth + 1)) : [];
  if (any.kvlistValue !== undefined) return membersOf((any.kvlistValue as { values?: unknown } | null)?.values, depth + 1);
  return null;
}

/** A number if it is exact, otherwise a string of digits. */
function integer(value: unknown): number | string | null {
  if (typeof value !== "number" && (typeof value !== "string" || !/^-?\d{1,20}$/.test(value))) return null;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}

export function textAttribute(attributes: Attributes, ...names: readonly string[]): string | null {
  for (const name of names) {
    const value = attributes[name];
    if (typeof value === "string" && value !== "") return value;
  }
  return null;
}

/** The first valid count (a non-negative integer) among the names; null if there is none. */
export function countAttribute(attributes: Attributes, ...names: readonly string[]): number | null {
  for (const name of names) {
    const value = attributes[name];
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  }
  return null;
}
