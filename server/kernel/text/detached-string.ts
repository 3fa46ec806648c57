/**
 * A copy of the text with memory of its own. A slice of a longer string keeps all of that string in memory, which matters
 * where it is kept for long. Half a surrogate pair becomes U+FFFD.
 */
export function detachedString(text: string): string {
  return Buffer.from(text).toString();
}
