const MINUS = 45;

/** Whether a number of a JSON text starts with this character. */
export function startsNumber(code: number): boolean {
  return code === MINUS || (code >= 48 && code <= 57);
}

/** The place behind the number that starts at `at`. */
export function afterNumber(json: string, at: number): number {
  let end = at + 1;
  while (/[\d.eE+-]/.test(json.charAt(end))) end++;
  return end;
}

/**
 * The digits of a whole number, however it is written: programs that keep columns as floating point write `4.0` and `4e0`. Null of
 * any other.
 */
export function wholeDigits(number: string): string | null {
  if (isWhole(number)) return number;
  const value = Number(number);
  return Number.isSafeInteger(value) ? String(value) : null;
}

/** A measure is nobody's number. */
export function isWhole(number: string): boolean {
  return !/[.eE]/.test(number);
}
