/** PostgreSQL holds neither NUL characters nor half a surrogate pair. */
export const isStorableText = (text: string): boolean => text.isWellFormed() && !text.includes("\0");

export const storableText = (text: string): string => text.toWellFormed().replaceAll("\0", "\ufffd");

/** PostgreSQL holds fewer years than JavaScript, and nothing the gateway records lies before or after those of four digits. */
export const isStorableTime = (time: Date): boolean => /^\d{4}-/.test(Number.isNaN(time.getTime()) ? "" : time.toISOString());

/** A JSON value with every text and name in it storable. */
export function storableValue(value: unknown): unknown {
  if (typeof value === "string") return storableText(value);
  if (Array.isArray(value)) return value.map(storableValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [storableText(key), storableValue(inner)]));
}
