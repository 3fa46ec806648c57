/** PostgreSQL accepts neither NUL characters nor lone surrogates. */
export const isStorableText = (text: string): boolean => text.isWellFormed() && !text.includes("\0");

export const storableText = (text: string): string => text.toWellFormed().replaceAll("\0", "\ufffd");

/** PostgreSQL has a smaller range of years than JavaScript, and nothing the gateway records needs more than four digits. */
export const isStorableTime = (time: Date): boolean => /^\d{4}-/.test(Number.isNaN(time.getTime()) ? "" : time.toISOString());

/** A JSON value with every string and name made storable. */
export function storableValue(value: unknown): unknown {
  if (typeof value === "string") return storableText(value);
  if (Array.isArray(value)) return value.map(storableValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [storableText(key), storableValue(inner)]));
}
