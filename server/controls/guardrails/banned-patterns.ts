import { RE2JS, RE2JSException, RE2Set } from "re2js";
import { type Detector, type DetectedSpan, LEFT, WINDOW } from "./detector.ts";
import { type PatternStarts, patternStarts } from "./pattern-starts.ts";
import { unfinishedMatch } from "./unfinished-match.ts";

const MAX_CHARACTERS = 1000;
const MAX_PATTERNS = 1000;
/** Searched at a time; a search sees the window behind its piece. */
const PIECE = 2048;
/** Searched at a time for one pattern that is known to be near. */
const STEP = 256;

/** Instructions times characters compared without a break, were every character the beginning of a match for each pattern. */
const STEPS_WITHOUT_BREAK = 10_000_000;
const LEAST_STRIDE = 64;

/** Part of `text`. One that is not cut short by its end ends in a character that keeps `$` from matching there. */
function part(text: string, from: number, to: number): string {
  return to <= text.length ? `${text.slice(from, to)}\0` : text.slice(from, to);
}

interface Span {
  readonly start: number;
  readonly end: number;
}

interface Pattern {
  readonly anywhere: RE2JS;
  /** Matches behind exactly one character, so that word boundaries see what stands before. */
  readonly behindOne: RE2JS;
  readonly atStart: RE2JS;
}

/** What is wrong with one pattern of a configuration. */
export interface PatternProblem {
  readonly index: number;
  readonly pattern: string;
  readonly message: string;
}

function reason(pattern: string, error: RE2JSException): string {
  if (/\(\?(?:<?[=!]|>)/.test(pattern))
    return "look-around and atomic groups are not supported, because they cannot be matched in linear time";
  if (/\\[1-9]|\\k/.test(pattern)) return "back-references are not supported, because they cannot be matched in linear time";
  return error.message.replace("error parsing regexp: ", "");
}

/**
 * A pattern compiles to more instructions only by counts inside counts or very high ones, and each may cost a step for
 * every character of a text.
 */
const MAX_INSTRUCTIONS = 1_200;

/** Instructions of all patterns of one configuration: compiling them takes time, and so does every text. */
const MAX_TOGETHER = 50_000;

/** Patterns that compile and whose counted repetitions make them so large that they are not to be stored. */
export function largePatterns(sources: readonly string[]): readonly PatternProblem[] {
  let together = 0;
  return sources.flatMap((pattern, index) => {
    if (together > MAX_TOGETHER) return [];
    const size = RE2JS.compile(pattern).programSize();
    together += size;
    if (together > MAX_TOGETHER) {
      const message = `makes the patterns of the configuration too large together: ${MAX_TOGETHER} instructions are allowed`;
      return [{ index, pattern, message }];
    }
    return size <= MAX_INSTRUCTIONS
      ? []
      : [
          {
            index,
            pattern,
            message:
              `is too large: its counted repetitions make ${size} instructions, ${MAX_INSTRUCTIONS} are allowed; use lower counts (a ` +
              `match has at most ${WINDOW - 1} characters)`,
          },
        ];
  });
}

function compilePattern(pattern: string): Pattern | string {
  if (pattern.length === 0 || pattern.length > MAX_CHARACTERS) return `must have 1 to ${MAX_CHARACTERS} characters`;
  try {
    const anywhere = RE2JS.compile(pattern);
    if (anywhere.matches("")) return "matches the empty text";
    return { anywhere, behindOne: RE2JS.compile(`\\A(?s:.)(?:${pattern})`), atStart: RE2JS.compile(`\\A(?:${pattern})`) };
  } catch (error) {
    if (error instanceof RE2JSException) return reason(pattern, error);
    throw error;
  }
}

/** More places where a match may begin, and a piece is searched as a whole. */
const MAX_PLACES = PIECE / 32;

/** The places of [from, to) where a match may begin; null when they are many. */
function placesIn(starts: PatternStarts, text: string, from: number, to: number): readonly number[] | null {
  const places: number[] = [];
  for (let at = starts.next(text, from, to); at < to; at = starts.next(text, at + 1, to)) {
    if (places.length === MAX_PLACES) return null;
    places.push(at);
  }
  return places;
}

/** Longer, and looking for beginnings of matches would cost more than it saves. */
const LONGEST_UNFINISHED = 8_000;

/** An expression of what matches of any of the patterns begin with; null where that is not known. */
function begunOf(sources: readonly string[]): string | null {
  const begun = sources.map(unfinishedMatch);
  if (begun.includes(null)) return null;
  const expression = begun.map((one) => `(?:${one ?? ""})`).join("|");
  return expression.length > LONGEST_UNFINISHED ? null : expression;
}

/**
 * Regular expressions of the tenant, in RE2 syntax and matched in time linear in the text. A match is at most 95
 * characters long. `^` and `$` stand for the start and the end of the whole text, in a stream as well: its end is held
 * back until it is known. Problems are returned, each with the pattern's place in `sources`.
 */
export function bannedPatterns(sources: readonly string[]): Detector | { readonly problems: readonly PatternProblem[] } {
  if (sources.length > MAX_PATTERNS)
    return { problems: [{ index: MAX_PATTERNS, pattern: sources[MAX_PATTERNS] ?? "", message: `at most ${MAX_PATTERNS} patterns` }] };
  const compiled = sources.map(compilePattern);
  const problems = compiled.flatMap((result, index) =>
    typeof result === "string" ? [{ index, pattern: sources[index] ?? "", message: result }] : [],
  );
  if (problems.length > 0) return { problems };
  const patterns = compiled as readonly Pattern[];
  const set = new RE2Set();
  for (const source of sources) set.add(source);
  try {
    set.compile();
  } catch (error) {
    if (error instanceof RE2JSException)
      return { problems: [{ index: 0, pattern: sources[0] ?? "", message: `the patterns together are too large: ${error.message}` }] };
    throw error;
  }

  const begun = begunOf(sources);
  const starts = begun === null ? null : patternStarts(sources, begun);

  /** Where the match of `pattern` that starts at `at` ends; null when none does within the window. */
  const endAt = (text: string, at: number, { behindOne, atStart }: Pattern): number | null => {
    const base = Math.max(0, at - 1);
    const expression = at === 0 ? atStart : behindOne;
    const window = part(text, base, at + WINDOW);
    // Asking whether is much cheaper than asking where, and most places that seemed to match do not.
    if (!expression.test(window)) return null;
    const matcher = expression.matcher(window);
    if (!matcher.lookingAt()) return null;
    const end = base + matcher.end();
    return end > at && end < at + WINDOW ? end : null;
  };
  /** The first match of `pattern` that starts in [from, to). */
  const next = (text: string, from: number, to: number, pattern: Pattern): Span | null => {
    // What matches in a piece but not in its window is tried again a character further: in ever smaller pieces, then.
    let size = STEP;
    for (let at = from; at < to;) {
      const base = Math.max(0, at - 1);
      const slice = part(text, base, Math.min(to, at + size) + WINDOW);
      const piece = pattern.anywhere.test(slice) ? pattern.anywhere.matcher(slice) : null;
      const found = piece !== null && piece.find(at - base) ? base + piece.start() : to;
      // Of what starts behind the step, the slice may have cut short what starts first.
      if (found >= Math.min(to, at + size)) {
        at += size;
        size = Math.min(STEP, size * 2);
        continue;
      }
      const end = endAt(text, found, pattern);
      if (end !== null) return { start: found, end };
      at = found + 1;
      size = Math.max(16, size >> 2);
    }
    return null;
  };

  /** Where the longest match that starts at `at` ends; null when none does. */
  const matchAt = (known: PatternStarts, text: string, at: number): number | null => {
    let longest: number | null = null;
    for (const index of known.matching(part(text, Math.max(0, at - 1), at + WINDOW), at > 0)) {
      const pattern = patterns[index];
      const end = pattern === undefined ? null : endAt(text, at, pattern);
      if (end !== null && (longest === null || end > longest)) longest = end;
    }
    return longest;
  };

  const instructions = patterns.reduce((sum, { anywhere }) => sum + anywhere.programSize(), 0);
  return {
    check: "banned_pattern",
    maxLength: WINDOW - 1,
    stride: Math.max(LEAST_STRIDE, Math.floor(STEPS_WITHOUT_BREAK / (instructions * WINDOW))),
    find(text, from, to) {
      const found: DetectedSpan[] = [];
      for (let pieceStart = from; pieceStart < to; pieceStart += PIECE) {
        const pieceEnd = Math.min(to, pieceStart + PIECE);
        const places = starts === null ? null : placesIn(starts, text, pieceStart, pieceEnd);
        if (starts !== null && places !== null) {
          for (const at of places) {
            if (at < (found.at(-1)?.end ?? 0)) continue;
            const end = matchAt(starts, text, at);
            if (end !== null) found.push({ category: "banned_pattern", start: at, end, score: 1 });
          }
          continue;
        }
        const present = set.match(part(text, Math.max(0, pieceStart - LEFT), pieceEnd + WINDOW));
        if (present.length === 0) continue;
        for (let at = Math.max(pieceStart, found.at(-1)?.end ?? 0); at < pieceEnd;) {
          let best: Span | null = null;
          for (const index of present) {
            const pattern = patterns[index];
            const match: Span | null =
              pattern === undefined ? null : next(text, at, best === null ? pieceEnd : Math.min(pieceEnd, best.start + 1), pattern);
            if (match !== null && (best === null || match.start < best.start || match.end > best.end)) best = match;
          }
          if (best === null) break;
          found.push({ category: "banned_pattern", ...best, score: 1 });
          at = best.end;
        }
      }
      return found;
    },
    openFrom(text) {
      const base = Math.max(0, text.length - WINDOW + 1);
      if (starts === null) return base;
      for (let at = starts.next(text, base, text.length); at < text.length; at = starts.next(text, at + 1, text.length)) {
        if (starts.isUnfinished(text, at)) return at;
      }
      return text.length;
    },
  };
}
