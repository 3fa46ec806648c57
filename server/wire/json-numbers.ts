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

/** A measure is nobody's number. */
export function isWhole(number: string): boolean {
  return !/[.eE]/.test(number);
}
