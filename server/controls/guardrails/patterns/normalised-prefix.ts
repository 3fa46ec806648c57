import { lowerUnits } from "../text/code-units.ts";

const SPACE = 32;

/** In lower case, white space as a space: what the first letters of phrases are compared by. */
export const PLAIN_CHARACTERS = lowerUnits().fill(SPACE, 0, SPACE);

/** The character as the beginnings of phrases are compared by: lower case, control characters as a space. */
export function normalisedPrefix(code: number): number {
  return PLAIN_CHARACTERS[code] ?? SPACE;
}
