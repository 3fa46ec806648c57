import { isDigit } from "../text/characters.ts";

const PLUS = 43;
const BRACKET = 40;
const SPACE = 32;

/** Digits, and what separates the digits of a phone number. */
const IS_SIGN = Uint8Array.from({ length: 128 }, (_, code) => (" ()./-0123456789".includes(String.fromCharCode(code)) ? 1 : 0));

/** Whether the six characters after the digit at `first` are all digits or separators. */
export function numberContinues(text: string, first: number): boolean {
  for (let at = first + 6; at > first; at--) if (IS_SIGN[text.charCodeAt(at)] !== 1) return false;
  return true;
}

/** Whether at least seven digits follow from `start`, with at most three separators before each. No phone number has fewer. */
export function hasSevenDigits(text: string, start: number): boolean {
  let digits = 0;
  for (let at = start, signs = 0; ; at++) {
    const code = text.charCodeAt(at);
    if (isDigit(code)) {
      if (++digits === 7) return true;
      signs = 0;
    } else if ((IS_SIGN[code] !== 1 && code !== PLUS) || ++signs > 3) return false;
  }
}

/** How many characters before its first digit a number may begin, earliest first. */
const LEADS = { none: [0], one: [1], bracketPlus: [2, 1], plusBracket: [2, 1], plusSpace: [2, 0], plusSpaceBracket: [3, 1] } as const;
export const MAX_LEADING = 3;

/** How many characters before its first digits at `digits` the number may begin: a plus, a bracket, or both, with a space between. */
export function leadsAt(text: string, digits: number): readonly number[] {
  const before = text.charCodeAt(digits - 1);
  const second = text.charCodeAt(digits - 2);
  if (before === PLUS) return second === BRACKET ? LEADS.bracketPlus : LEADS.one;
  if (before === BRACKET)
    return second === PLUS
      ? LEADS.plusBracket
      : second === SPACE && text.charCodeAt(digits - 3) === PLUS
        ? LEADS.plusSpaceBracket
        : LEADS.one;
  return before === SPACE && second === PLUS ? LEADS.plusSpace : LEADS.none;
}
