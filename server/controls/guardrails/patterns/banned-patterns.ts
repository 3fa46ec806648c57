import { RE2JS, RE2JSException, RE2Set } from "re2js";
import { type Detector, WINDOW } from "../text/detector.ts";
import { PatternSearch } from "./pattern-search.ts";
import { patternStarts } from "./pattern-starts.ts";
import { Pattern } from "./searched-pattern.ts";
import { unfinishedMatch } from "./unfinished-match.ts";

/** Instructions times characters between two breaks: some milliseconds. */
const STEPS_WITHOUT_BREAK = 400_000;

const MAX_CHARACTERS = 1000;
const MAX_PATTERNS = 1000;
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

/** Only nested or very high counts compile to more instructions, each of which may cost a step per character of text. */
const MAX_INSTRUCTIONS = 1_200;

/** Instructions of all patterns of a configuration together, since compiling and matching take time proportional to it. */
const MAX_TOGETHER = 50_000;

function sizeOf(pattern: string): number {
  try {
    return RE2JS.compile(pattern).programSize();
  } catch (error) {
    if (error instanceof RE2JSException) return 0;
    throw error;
  }
}

/**
 * Patterns that their counted repetitions make too large to store, and the first with which the total becomes too
 * large; those after it are not checked. Patterns that do not compile are not included.
 */
export function largePatterns(sources: readonly string[]): readonly PatternProblem[] {
  const large: PatternProblem[] = [];
  let together = 0;
  for (const [index, pattern] of sources.entries()) {
    const size = sizeOf(pattern);
    together += size;
    if (size > MAX_INSTRUCTIONS) {
      const message =
        `is too large: its counted repetitions make ${size} instructions, ${MAX_INSTRUCTIONS} are allowed; use lower counts (a ` +
        `match has at most ${WINDOW - 1} characters)`;
      large.push({ index, pattern, message });
    }
    if (together <= MAX_TOGETHER) continue;
    const message = `makes the patterns of the configuration too large together: ${MAX_TOGETHER} instructions are allowed`;
    return [...large.filter((one) => one.index !== index), { index, pattern, message }];
  }
  return large;
}

function compilePattern(source: string): Pattern | string {
  if (source.length === 0 || source.length > MAX_CHARACTERS) return `must have 1 to ${MAX_CHARACTERS} characters`;
  try {
    const anywhere = RE2JS.compile(source);
    return anywhere.matches("") ? "matches the empty text" : new Pattern(source, anywhere);
  } catch (error) {
    if (error instanceof RE2JSException) return reason(source, error);
    throw error;
  }
}

/** With longer expressions, looking for match beginnings costs more than it saves. */
const MAX_UNFINISHED_LENGTH = 8_000;

/** An expression for what matches of any of the patterns begin with; null if unknown. */
function begunOf(sources: readonly string[]): string | null {
  const begun = sources.map(unfinishedMatch);
  if (begun.includes(null)) return null;
  const expression = begun.map((one) => `(?:${one ?? ""})`).join("|");
  return expression.length > MAX_UNFINISHED_LENGTH ? null : expression;
}

/**
 * The tenant's regular expressions, in RE2 syntax and matched in linear time. A match has at most 95 characters. `^`
 * and `$` mean the start and end of the whole text, also in a stream, whose end is held back until it is known.
 * Problems are returned with the pattern's index in `sources`.
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

  const search = new PatternSearch(patterns, set, starts);
  return {
    check: "banned_pattern",
    maxLength: WINDOW - 1,
    find: (text, from, to) => search.search(text, from, to, Number.POSITIVE_INFINITY).found,
    findSome: (text, from, to) => search.search(text, from, to, STEPS_WITHOUT_BREAK),
    openFrom: (text) => search.openFrom(text),
  };
}
