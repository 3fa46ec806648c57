import { unitsOf } from "./code-units.ts";

/**
 * Letters of scripts that separate words by spaces. Letters of other scripts (Han, Kana, Hangul, Thai and so on) may
 * touch a number or address without belonging to it.
 */
export const SPACED_LETTERS = "A-Za-z\\u00AA\\u00B5\\u00BA\\u00C0-\\u00D6\\u00D8-\\u00F6\\u00F8-\\u052F\\u1E00-\\u1FFF";

const WORDS_END = 0x2000;

/** 1 for each character below 0x2000 that is part of a word; none above is. */
export const IS_WORD = unitsOf(`${SPACED_LETTERS}0-9_`, WORDS_END);

/** Whether the code unit is a high surrogate. */
export function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** Whether a number or token next to the character at `at` would be part of a longer word; false outside the text. */
export function isWordAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code < WORDS_END && IS_WORD[code] === 1;
}

export function isDigitAt(text: string, at: number): boolean {
  return isDigit(text.charCodeAt(at));
}

const IS_SPACE = unitsOf("\\s");

/** Start of the last run without white space in `text`, but not before `least`. */
export function lastWordFrom(text: string, least: number): number {
  let start = text.length;
  while (start > least && IS_SPACE[text.charCodeAt(start - 1)] === 0) start--;
  return start;
}

/** Whether the character is an ASCII letter. */
export function isLetterAt(text: string, at: number): boolean {
  const lower = text.charCodeAt(at) | 32;
  return lower >= 97 && lower <= 122;
}

/** Whether the character is one of `set`; false outside the text. */
export function isOneOf(text: string, at: number, set: string): boolean {
  const character = text.charAt(at);
  return character !== "" && set.includes(character);
}
