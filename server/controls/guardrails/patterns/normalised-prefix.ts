import { lowerUnits } from "../text/code-units.ts";

const SPACE = 32;

/** Lower-case form of each code unit, with control characters and space as a space; used to compare prefixes of phrases. */
export const PLAIN_CHARACTERS = lowerUnits().fill(SPACE, 0, SPACE);

/** The code unit in the form used to compare prefixes: lower case, control characters as a space. */
export function normalisedPrefix(code: number): number {
  return PLAIN_CHARACTERS[code] ?? SPACE;
}
