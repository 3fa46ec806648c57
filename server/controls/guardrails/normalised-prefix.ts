const SPACE = 32;

/** In lower case, white space as a space: what the first letters of phrases are compared by. */
export const PLAIN_CHARACTERS = Uint16Array.from({ length: 65_536 }, (_, code) => {
  if (code < SPACE) return SPACE;
  return String.fromCharCode(code).toLowerCase().charCodeAt(0);
});

/** The character as the beginnings of phrases are compared by: lower case, control characters as a space. */
export function normalisedPrefix(code: number): number {
  return PLAIN_CHARACTERS[code] ?? SPACE;
}
