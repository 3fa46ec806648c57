/** `at`, or one less if it lies within a surrogate pair: cutting there would break the text. */
export function characterStart(text: string, at: number): number {
  const isBetween = /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(text.slice(Math.max(0, at - 1), at + 1));
  return isBetween ? at - 1 : at;
}

/** The longest beginning of at most `most` code units that ends with a whole character. */
export const beginningOf = (text: string, most: number): string => text.slice(0, characterStart(text, most));
