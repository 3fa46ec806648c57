import { isDigit, isLetterAt, isWordAt } from "./characters.ts";
import type { DetectedSpan } from "./detector.ts";
import { firstFrom, LastTextCache } from "./last-text-cache.ts";

/**
 * Runs of digits a number may begin with, from left to right: each starts at `starts[n]` and ends before `ends[n]`, and no digit stands
 * beside it.
 */
interface Runs {
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

/** Whether the word that the digits at `at` go on is none, or the two letters of a country. */
function mayBeginNumber(text: string, at: number): boolean {
  return !isWordAt(text, at - 1) || (isLetterAt(text, at - 1) && isLetterAt(text, at - 2) && !isWordAt(text, at - 3));
}

const runs = new LastTextCache((text: string, from: number): Runs => {
  const starts: number[] = [];
  const ends: number[] = [];
  const { length } = text;
  let at = from;
  if (at > 0 && isDigit(text.charCodeAt(at - 1))) while (at < length && isDigit(text.charCodeAt(at))) at++;
  for (; at < length; at++) {
    if (!isDigit(text.charCodeAt(at))) continue;
    const start = at;
    for (at++; at < length && isDigit(text.charCodeAt(at)); at++);
    if (!mayBeginNumber(text, start)) continue;
    starts.push(start);
    ends.push(at);
  }
  return { starts, ends };
});

/**
 * Asks `decide` at each run of digits, but those inside words, for the number that begins with it, or up to `lead` characters before it, in
 * [cursor, to): `cursor` is `from` at first, and where the last number ended after that. All detectors of numbers look at
 * the same text one after the other, so it is read for digits once.
 */
export function scanNumbers(
  text: string,
  from: number,
  to: number,
  lead: number,
  decide: (start: number, end: number, cursor: number) => DetectedSpan | null,
): DetectedSpan[] {
  const { starts, ends } = runs.of(text, from);
  const found: DetectedSpan[] = [];
  let cursor = from;
  for (let n = firstFrom(starts, from); n < starts.length; n++) {
    const start = starts[n] ?? 0;
    if (start >= to + lead) break;
    if (start < cursor) continue;
    const value = decide(start, ends[n] ?? 0, cursor);
    if (value === null) continue;
    found.push(value);
    cursor = value.end;
  }
  return found;
}
