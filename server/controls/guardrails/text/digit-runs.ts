import { isDigit, isLetterAt, isWordAt } from "./characters.ts";
import type { DetectedSpan } from "./detector.ts";
import { firstFrom, LastTextCache } from "./last-text-cache.ts";

/** Runs of digits that may begin a number, left to right, as [starts[n], ends[n]); each is maximal. */
interface Runs {
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

/** Whether the digits at `at` follow no word, or exactly two letters, as in a country code. */
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
 * Calls `decide` for each run of digits outside words, to find a number that begins with it, or up to `lead`
 * characters before it, in [cursor, to). `cursor` is `from` at first, then the end of the last number. Detectors of
 * numbers scan the same text one after the other, so its digit runs are cached.
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
