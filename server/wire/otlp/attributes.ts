/** Attributes of OTLP in JSON (AnyValue) as plain values. 64-bit integers may be texts or numbers. */
export type Attributes = Readonly<Record<string, unknown>>;

const MAX_DEPTH = 16;

export const attributesOf = (list: unknown): Attributes => membersOf(list, 0);

/** The pairs of a list; what is no pair costs its sender nothing else. */
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

/** A number where it is exact, else the digits. */
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

/** A count: an integer from 0. */
export function countAttribute(attributes: Attributes, ...names: readonly string[]): number | null {
  for (const name of names) {
    const value = attributes[name];
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  }
  return null;
}
