/**
 * The text in memory of its own. A text that was cut out of a longer one keeps all of that one in memory, which matters
 * where it is kept for long. Half a surrogate pair becomes U+FFFD.
 */
export function ownCopy(text: string): string {
  return Buffer.from(text).toString();
}
