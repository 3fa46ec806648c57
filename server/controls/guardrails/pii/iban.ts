import { isLetterAt, isWordAt, lastWordFrom } from "../text/characters.ts";
import type { Detector, DetectedSpan } from "../text/detector.ts";
import { scanNumbers } from "../text/digit-runs.ts";
import { hasIbanCheckDigits } from "./iban-check-digits.ts";

/** Length by country, from the ISO 13616 registry. */
const LENGTHS: Readonly<Record<string, number>> = {
  AD: 24,
  AE: 23,
  AL: 28,
  AT: 20,
  AZ: 28,
  BA: 20,
  BE: 16,
  BG: 22,
  BH: 22,
  BI: 27,
  BR: 29,
  BY: 28,
  CH: 21,
  CR: 22,
  CY: 28,
  CZ: 24,
  DE: 22,
  DJ: 27,
  DK: 18,
  DO: 28,
  EE: 20,
  EG: 29,
  ES: 24,
  FI: 18,
  FK: 18,
  FO: 18,
  FR: 27,
  GB: 22,
  GE: 22,
  GI: 23,
  GL: 18,
  GR: 27,
  GT: 28,
  HN: 28,
  HR: 21,
  HU: 28,
  IE: 22,
  IL: 23,
  IQ: 23,
  IS: 26,
  IT: 27,
  JO: 30,
  KW: 30,
  KZ: 20,
  LB: 28,
  LC: 32,
  LI: 21,
  LT: 20,
  LU: 20,
  LV: 21,
  LY: 25,
  MC: 27,
  MD: 24,
  ME: 22,
  MK: 19,
  MN: 20,
  MR: 27,
  MT: 31,
  MU: 30,
  NI: 28,
  NL: 18,
  NO: 15,
  OM: 23,
  PK: 24,
  PL: 28,
  PS: 29,
  PT: 25,
  QA: 29,
  RO: 24,
  RS: 22,
  RU: 33,
  SA: 24,
  SC: 31,
  SD: 18,
  SE: 24,
  SI: 19,
  SK: 24,
  SM: 27,
  SO: 23,
  ST: 25,
  SV: 28,
  TL: 23,
  TN: 24,
  TR: 26,
  UA: 29,
  VA: 22,
  VG: 24,
  XK: 20,
  YE: 30,
};

const COMPACT = /[A-Za-z]{2}\d{2}[A-Za-z0-9]{11,29}/y;
const GROUPED = /[A-Za-z]{2}\d{2}([ -])[A-Za-z0-9]{4}(?:\1[A-Za-z0-9]{4}){1,6}(?:\1[A-Za-z0-9]{1,4})?/y;

/** Offset after the first `count` letters and digits of `shape`, not counting separators; null if there are fewer. */
function lengthOfCharacters(shape: string, count: number): number | null {
  let seen = 0;
  for (let i = 0; i < shape.length; i++) {
    if (shape[i] !== " " && shape[i] !== "-") seen++;
    if (seen === count) return i + 1;
  }
  return null;
}

/** The IBAN whose two letters precede the digits at `digits`, if it starts at or after `cursor`. */
function ibanBefore(text: string, digits: number, cursor: number): DetectedSpan | null {
  const start = digits - 2;
  if (start < cursor || !isLetterAt(text, start) || !isLetterAt(text, start + 1) || isWordAt(text, start - 1)) return null;
  const length = LENGTHS[text.slice(start, start + 2).toUpperCase()];
  if (length === undefined) return null;
  for (const shape of [COMPACT, GROUPED]) {
    shape.lastIndex = start;
    const match = shape.exec(text)?.[0];
    if (match === undefined) continue;
    const size = lengthOfCharacters(match, length);
    if (size === null || isWordAt(text, start + size)) continue;
    const iban = match.slice(0, size).replace(/[ -]/g, "").toUpperCase();
    if (hasIbanCheckDigits(iban)) return { category: "iban", start, end: start + size, score: 1 };
  }
  return null;
}

/** An IBAN that may still grow: its first four characters and anything after them up to the end of a line. */
const OPEN = /[A-Za-z]{2}\d{2}[A-Za-z0-9 -]*$/;

/** International bank account numbers: the country's length and valid check digits, ungrouped or in groups of four. */
export const iban: Detector = {
  check: "pii",
  maxLength: 42,
  find: (text, from, to) =>
    scanNumbers(text, from, to, 2, (start, end, cursor) => (end - start < 2 ? null : ibanBefore(text, start, cursor))),
  openFrom(text) {
    const base = Math.max(0, text.length - 48);
    const end = text.slice(base);
    const open = OPEN.exec(end)?.index ?? end.length;
    return Math.min(base + open, lastWordFrom(text, base));
  },
};
