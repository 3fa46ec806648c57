/**
 * A copy of the text with its own memory. A slice of a longer string keeps the whole string in memory, which matters if the slice is kept
 * for long. Lone surrogates become U+FFFD.
 */
export function detachedString(text: string): string {
  return Buffer.from(text).toString();
}
