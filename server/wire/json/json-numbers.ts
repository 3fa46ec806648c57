const MINUS = 45;

/** Whether a JSON number starts with this character code. */
export function startsNumber(code: number): boolean {
  return code === MINUS || (code >= 48 && code <= 57);
}

/** The offset after the number that starts at `at`. */
export function afterNumber(json: string, at: number): number {
  let end = at + 1;
  while (/[\d.eE+-]/.test(json.charAt(end))) end++;
  return end;
}

/** The digits of an integer in any notation: programs with floating-point columns write `4.0` or `4e0`. Null if not an integer. */
export function wholeDigits(number: string): string | null {
  if (isWhole(number)) return number;
  const value = Number(number);
  return Number.isSafeInteger(value) ? String(value) : null;
}

/** Whether the number is written as an integer. Fractions are measurements and cannot identify anybody. */
export function isWhole(number: string): boolean {
  return !/[.eE]/.test(number);
}
