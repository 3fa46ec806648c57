import type { RE2Set } from "re2js";
import { type DetectedSpan, LEFT, WINDOW } from "../text/detector.ts";
import { matchPlaces, SEARCHED_PIECE } from "./match-places.ts";
import type { PatternStarts } from "./pattern-starts.ts";
import { type Pattern } from "./searched-pattern.ts";

const SHORTEST_PIECE = 256;
const PIECE_STEPS = 500_000;
/** Characters of a piece known to contain a match that every pattern searches before the next stretch. */
const MIN_STRETCH = 8;
const STRETCH_STEPS = 20_000;
/** Characters searched at once for one pattern that is known to be near. */
const STEP = 256;

/** Part of `text`. If it ends before the text does, a NUL is appended, which keeps `$` from matching there. */
function part(text: string, from: number, to: number): string {
  return to <= text.length ? `${text.slice(from, to)}\0` : text.slice(from, to);
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Finds matches of several patterns: earliest first, and the longest of those with the same start. */
export class PatternSearch {
  readonly #patterns: readonly Pattern[];
  readonly #set: RE2Set;
  readonly #starts: PatternStarts | null;
  readonly #pieceLength: number;
  readonly #stretch: number;
  /** Instructions times characters spent by the current search. */
  #spent = 0;

  /** `set`: all patterns. `starts`: where they may begin; null if unknown. */
  constructor(patterns: readonly Pattern[], set: RE2Set, starts: PatternStarts | null) {
    this.#patterns = patterns;
    this.#set = set;
    this.#starts = starts;
    const instructions = patterns.reduce((sum, { size }) => sum + size, 0);
    this.#pieceLength = Math.max(SHORTEST_PIECE, Math.min(SEARCHED_PIECE, Math.floor(PIECE_STEPS / instructions)));
    this.#stretch = Math.max(MIN_STRETCH, Math.min(STEP, Math.floor(STRETCH_STEPS / instructions)));
  }

  /** The end of `pattern`'s match at `at`; null if it has none within the window. */
  #endAt(text: string, at: number, pattern: Pattern): number | null {
    const base = Math.max(0, at - 1);
    const expression = at === 0 ? pattern.atStart : pattern.behindOne;
    const window = part(text, base, at + WINDOW);
    this.#spent += WINDOW * pattern.size;
    // Testing is much cheaper than locating, and most candidates turn out not to match.
    if (!expression.test(window)) return null;
    const matcher = expression.matcher(window);
    if (!matcher.lookingAt()) return null;
    const end = base + matcher.end();
    return end > at && end < at + WINDOW ? end : null;
  }

  /** The first match of `pattern` that starts in [from, to). */
  #next(text: string, from: number, to: number, pattern: Pattern): Span | null {
    // A match found in the piece may not fit its own window; the search then resumes one character later, in ever smaller pieces.
    let size = STEP;
    for (let at = from; at < to;) {
      const base = Math.max(0, at - 1);
      const slice = part(text, base, Math.min(to, at + size) + WINDOW);
      this.#spent += slice.length * pattern.size;
      const piece = pattern.anywhere.test(slice) ? pattern.anywhere.matcher(slice) : null;
      const found = piece !== null && piece.find(at - base) ? base + piece.start() : to;
      // Beyond the step, the slice may have cut off a match that starts earlier.
      if (found >= Math.min(to, at + size)) {
        at += size;
        size = Math.min(STEP, size * 2);
        continue;
      }
      const end = this.#endAt(text, found, pattern);
      if (end !== null) return { start: found, end };
      at = found + 1;
      size = Math.max(16, size >> 2);
    }
    return null;
  }

  /** The end of the longest match at `at`; null if there is none. */
  #matchAt(known: PatternStarts, text: string, at: number): number | null {
    let longest: number | null = null;
    for (const index of known.matching(part(text, Math.max(0, at - 1), at + WINDOW), at > 0)) {
      const pattern = this.#patterns[index];
      const end = pattern === undefined ? null : this.#endAt(text, at, pattern);
      if (end !== null && (longest === null || end > longest)) longest = end;
    }
    return longest;
  }

  /** The earliest match of these patterns that starts in [from, to), the longest if several do. */
  #earliest(text: string, from: number, to: number, some: readonly number[]): Span | null {
    let best: Span | null = null;
    for (const index of some) {
      const pattern = this.#patterns[index];
      const match: Span | null =
        pattern === undefined ? null : this.#next(text, from, best === null ? to : Math.min(to, best.start + 1), pattern);
      if (match !== null && (best === null || match.start < best.start || match.end > best.end)) best = match;
    }
    return best;
  }

  /** Matches that start in [from, to), within a budget of steps; those from `upTo` on have not been searched. */
  search(text: string, from: number, to: number, most: number): { found: DetectedSpan[]; upTo: number } {
    const starts = this.#starts;
    const found: DetectedSpan[] = [];
    const add = (span: Span) => found.push({ category: "banned_pattern", ...span, score: 1 });
    this.#spent = 0;
    for (let pieceStart = from; pieceStart < to; pieceStart += this.#pieceLength) {
      if (this.#spent > most) return { found, upTo: pieceStart };
      const pieceEnd = Math.min(to, pieceStart + this.#pieceLength);
      const places = starts === null ? null : matchPlaces(starts, text, pieceStart, pieceEnd);
      if (starts !== null && places !== null) {
        for (const at of places) {
          if (at < (found.at(-1)?.end ?? 0)) continue;
          if (this.#spent > most) return { found, upTo: at };
          const end = this.#matchAt(starts, text, at);
          if (end !== null) add({ start: at, end });
        }
        continue;
      }
      const present = this.#set.match(part(text, Math.max(0, pieceStart - LEFT), pieceEnd + WINDOW));
      if (present.length === 0) continue;
      for (let at = Math.max(pieceStart, found.at(-1)?.end ?? 0); at < pieceEnd;) {
        if (this.#spent > most) return { found, upTo: at };
        const end = Math.min(pieceEnd, at + this.#stretch);
        const match = this.#earliest(text, at, end, present);
        if (match !== null) add(match);
        at = match?.end ?? end;
      }
    }
    return { found, upTo: to };
  }

  /** The earliest offset at which more text could create or change a match. */
  openFrom(text: string): number {
    const starts = this.#starts;
    const base = Math.max(0, text.length - WINDOW + 1);
    if (starts === null) return base;
    for (let at = starts.next(text, base, text.length); at < text.length; at = starts.next(text, at + 1, text.length)) {
      if (starts.isUnfinished(text, at)) return at;
    }
    return text.length;
  }
}
