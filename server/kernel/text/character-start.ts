/** `at`, or one less where it stands between the halves of a character: a text that is cut there is no text any more. */
export function characterStart(text: string, at: number): number {
  const isBetween = /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(text.slice(Math.max(0, at - 1), at + 1));
  return isBetween ? at - 1 : at;
}

/** At most so much of its beginning, in whole characters. */
export const beginningOf = (text: string, most: number): string => text.slice(0, characterStart(text, most));
