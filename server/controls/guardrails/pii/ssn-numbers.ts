import { isDigitAt, isOneOf } from "../text/characters.ts";

/** Numbers that were printed in advertisements and are not assigned to anyone. */
const ADVERTISED = new Set(["078051120", "219099999", "457555462"]);

/** Whether it can be assigned to a person: not area 000, 666 or 9xx, group 00 or serial 0000. */
export function isAssignableSsn(digits: string): boolean {
  return !/^(?:000|666|9)/.test(digits) && digits.slice(3, 5) !== "00" && digits.slice(5) !== "0000" && !ADVERTISED.has(digits);
}

/** Offsets of the digits after the first group, counted from its end. */
const GROUPS = [1, 2, 4, 5, 6, 7];

/** Whether the run of digits [start, end) has nine digits, or is the first of groups of three, two and four. */
export function hasSsnShape(text: string, start: number, end: number): boolean {
  if (end - start === 9) return true;
  if (end - start !== 3 || !isOneOf(text, end, " .-") || text.charCodeAt(end + 3) !== text.charCodeAt(end)) return false;
  for (const at of GROUPS) if (!isDigitAt(text, end + at)) return false;
  return !isDigitAt(text, end + 8);
}
