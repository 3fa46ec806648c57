import { isDigit, isDigitAt, isLetterAt, isOneOf, isWordAt, lastWordFrom } from "../../text/characters.ts";
import type { DetectedSpan, Detector } from "../../text/detector.ts";
import { firstFrom, LastTextCache } from "../../text/last-text-cache.ts";
import { contextBefore, continuesBefore } from "../number-context.ts";
import type { Identifier } from "./identifier.ts";

/** The most letters before the first digit of an identifier, and the most digits together. */
const MAX_LETTERS = 6;
const MAX_DIGITS = 20;
const MAX_LENGTH = 40;
const NAMED = 0.95;

/** Where identifiers may begin: `starts[n]` is the first character of a word, `digits[n]` its first digit, `ends[n]` the end of those digits. */
interface Beginnings {
  readonly starts: readonly number[];
  readonly digits: readonly number[];
  readonly ends: readonly number[];
}

const beginnings = new LastTextCache((text: string, from: number): Beginnings => {
  const starts: number[] = [];
  const digits: number[] = [];
  const ends: number[] = [];
  const { length } = text;
  for (let at = from; at < length; at++) {
    if (!isDigit(text.charCodeAt(at))) continue;
    const first = at;
    for (at++; at < length && isDigit(text.charCodeAt(at)); at++);
    let start = first;
    while (start > 0 && first - start < MAX_LETTERS && isLetterAt(text, start - 1)) start--;
    if (isWordAt(text, start - 1)) continue;
    if (start === first && isOneOf(text, first - 1, " -") && isPrefix(text, first - 1)) start = first - prefixLength(text, first - 1) - 1;
    starts.push(start);
    digits.push(first);
    ends.push(at);
  }
  return { starts, digits, ends };
});

/** One or two capitals before a separator, as in `AB 12 34 56 C` and `X-1234567-L`. */
function prefixLength(text: string, separator: number): number {
  return isCapitalAt(text, separator - 2) ? 2 : 1;
}

function isPrefix(text: string, separator: number): boolean {
  return isCapitalAt(text, separator - 1) && !isWordAt(text, separator - 1 - prefixLength(text, separator));
}

function isCapitalAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 65 && code <= 90;
}

/** Where at the end of `text` an identifier may begin or go on: its groups of digits may have one or two letters between them. */
const OPEN =
  /(?:(?<![A-Za-z0-9])[A-Z]{1,2}[ -]|[A-Za-z]{0,6})\d[\dA-Za-z./-]*(?: (?:[\d./-]+[A-Za-z]?)?)*(?: ?[A-Za-z])?[./-]?$|(?<![A-Za-z0-9])[A-Z]{1,2}[ -]$/;

/** The same for a day that is followed by the name of a month. */
const OPEN_DAY = /(?<![A-Za-z0-9])\d{1,2}(?:st|nd|rd|th|\.)? ?\p{L}{0,9}\.?,? ?\d{0,4}[./-]?$/u;

/** Identifiers of the given kinds, found in one pass by the words that hold digits. */
export function identifiers(kinds: Readonly<Record<string, Identifier>>): Detector {
  const byBeginning = new Map<number, [category: string, kind: Identifier][]>();
  for (const [category, kind] of Object.entries(kinds))
    for (const [letters, digits] of kind.begins) {
      const key = letters * (MAX_DIGITS + 1) + digits;
      byBeginning.set(key, [...(byBeginning.get(key) ?? []), [category, kind]]);
    }

  /** `cursor`: nothing may begin before. */
  const decide = (text: string, start: number, first: number, end: number, cursor: number): DetectedSpan | null => {
    let best: DetectedSpan | null = null;
    const separate = first > start && !isLetterAt(text, first - 1) ? 1 : 0;
    for (const begin of separate === 1 ? [start, first] : [start]) {
      if (begin < cursor) continue;
      const some = byBeginning.get((first - begin - (begin < first ? separate : 0)) * (MAX_DIGITS + 1) + Math.min(end - first, MAX_DIGITS));
      for (const [category, kind] of some ?? []) {
        const span = identifierAt(text, begin, category, kind);
        if (span !== null && (best === null || span.score > best.score)) best = span;
      }
      if (best !== null) break;
    }
    return best;
  };

  return {
    check: "pii",
    maxLength: MAX_LENGTH,
    find(text, from, to) {
      const { starts, digits, ends } = beginnings.of(text, from);
      const found: DetectedSpan[] = [];
      let cursor = from;
      for (let n = firstFrom(digits, from); n < starts.length; n++) {
        const start = starts[n] ?? 0;
        const first = digits[n] ?? 0;
        if (start >= to) break;
        if (first < cursor) continue;
        const span = decide(text, start, first, ends[n] ?? 0, cursor);
        if (span === null || span.start >= to) continue;
        found.push(span);
        cursor = span.end;
      }
      return found;
    },
    openFrom(text) {
      const base = Math.max(0, text.length - MAX_LENGTH - 8);
      const end = text.slice(base);
      const open = [OPEN, OPEN_DAY].map((one) => one.exec(end)?.index ?? end.length);
      return Math.min(base + Math.min(...open), lastWordFrom(text, base));
    },
  };
}

function identifierAt(
  text: string,
  start: number,
  category: string,
  { shape, isValid, alone, words, names }: Identifier,
): DetectedSpan | null {
  // A comma may be the end of a column, but not in `1,234`.
  const joints = isDigitAt(text, start + 2) && !isDigitAt(text, start + 3) ? ".,-/" : ".-/";
  if (continuesBefore(text, start, joints) || isOneOf(text, start - 1, "$\u20ac\u00a3")) return null;
  if (isOneOf(text, start - 1, "-./") && isWordAt(text, start - 2)) return null;
  shape.lastIndex = start;
  const written = shape.exec(text)?.[0];
  if (written === undefined) return null;
  const end = start + written.length;
  if (isWordAt(text, end) || (isOneOf(text, end, ".-/") && isDigitAt(text, end + 1))) return null;
  if (!isValid(written.replaceAll(/[^A-Za-z0-9]/g, "").toUpperCase(), written)) return null;
  const context = contextBefore(text, start, words, { ...(names !== undefined && { names }), mayBeId: true });
  const score = context === "kind" ? NAMED : (typeof alone === "number" ? alone : alone(written)) - (context === "other" ? 0.5 : 0);
  return { category, start, end, score: Math.max(0, score) };
}
