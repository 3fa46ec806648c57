/**
 * Letters of the scripts that put spaces between words. Letters of the others (Han, Kana, Hangul, Thai and so on) may
 * stand against a number or an address without being part of it.
 */
export const SPACED_LETTERS = "A-Za-z\\u00AA\\u00B5\\u00BA\\u00C0-\\u00D6\\u00D8-\\u00F6\\u00F8-\\u052F\\u1E00-\\u1FFF";

const NON_ASCII_WORD = new RegExp(`[${SPACED_LETTERS}]`);

export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** Whether a number or token next to the character at `at` would be part of a longer word. Outside the text: no. */
export function isWordAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code < 128) return isDigit(code) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95;
  return code <= 0x1fff && NON_ASCII_WORD.test(text.charAt(at));
}

export function isDigitAt(text: string, at: number): boolean {
  return isDigit(text.charCodeAt(at));
}

/** The character is one of `set`. Outside the text: no. */
export function isOneOf(text: string, at: number, set: string): boolean {
  const character = text.charAt(at);
  return character !== "" && set.includes(character);
}
