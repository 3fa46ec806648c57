import { RE2JS, RE2JSException, RE2Set } from "re2js";

/** Only characters below this are followed beyond the first; any other may continue a match. */
const FOLLOWED = 128;
/** Most characters that are followed, and most distinct beginnings. */
const MAX_DEPTH = 5;
const MAX_BEGINNINGS = 1_000;
/** Possible contexts before a match, for assertions about it: nothing, a word, a space, a line end. */
const BEFORE = ["", "a", " ", "\n"];
const CONDITION_BEFORE = /\\[bBA]|\^/;

/** What is known of the characters up to here: nothing yet, no match, a possible match; a positive number is the next beginning. */
const UNKNOWN = 0;
const NO = -1;
const MAY = -2;

function isSurrogate(code: number): boolean {
  return (code & 0xf800) === 0xd800;
}

function isSecondHalf(text: string, at: number, code: number): boolean {
  return code >= 0xdc00 && at > 0 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
}

function anchored(sources: readonly string[]): RE2Set {
  const set = new RE2Set(RE2Set.ANCHOR_START);
  for (const source of sources) set.add(source);
  set.compile();
  return set;
}

/**
 * Where in a text matches of several patterns may begin, judged by their first few characters, and which patterns match
 * there. Results for characters are computed on first use and remembered, so most places cost one or two look-ups.
 */
export class PatternStarts {
  readonly #begun: RE2JS;
  readonly #begunBehindOne: RE2JS;
  readonly #whole: RE2Set;
  readonly #wholeBehindOne: RE2Set;
  readonly #before: readonly string[];
  readonly #first = new Int8Array(65_536);
  /** For each beginning (the empty one first) and each next character: the next beginning, or one of the constants above. */
  #beginnings = new Int16Array(FOLLOWED * 16);
  #count = 1;

  /** `begun`: an expression for everything that matches may begin with (see `unfinishedMatch`). Throws RE2's errors. */
  constructor(sources: readonly string[], begun: string) {
    this.#begun = RE2JS.compile(`\\A(?:${begun})\\z`);
    this.#begunBehindOne = RE2JS.compile(`\\A(?s:.)(?:${begun})\\z`);
    this.#whole = anchored(sources);
    this.#wholeBehindOne = anchored(sources.map((source) => `(?s:.)(?:${source})`));
    this.#before = sources.some((source) => CONDITION_BEFORE.test(source)) ? BEFORE : BEFORE.slice(0, 1);
  }

  /** Instructions of the expression for beginnings. */
  get size(): number {
    return this.#begun.programSize();
  }

  /** The first offset in [from, to) where a match may begin; `to` if there is none. */
  next(text: string, from: number, to: number): number {
    const first = this.#first;
    for (let at = from; at < to; at++) {
      const code = text.charCodeAt(at);
      if (first[code] === NO) continue;
      if (code < FOLLOWED ? this.#mayStandAt(text, at, code) : this.#mayBeginWith(text, at, code)) return at;
    }
    return to;
  }

  /** Indexes of the patterns that match at the start of `window`, or after its first character. */
  matching(window: string, isBehindOne: boolean): readonly number[] {
    return (isBehindOne ? this.#wholeBehindOne : this.#whole).match(window);
  }

  /** Whether the text from `at` on may be the beginning of a match that more text could create or change. */
  isUnfinished(text: string, at: number): boolean {
    return at === 0 ? this.#begun.test(text) : this.#begunBehindOne.test(text.slice(at - 1));
  }

  /** Whether a match may begin with the character at `at`, looking no further. */
  #mayBeginWith(text: string, at: number, code: number): boolean {
    const first = this.#first;
    let known = first[code];
    // The second half of a surrogate pair is no place of its own.
    if (isSurrogate(code)) return !isSecondHalf(text, at, code);
    if (known === UNKNOWN) known = first[code] = this.#mayBegin(text.charAt(at)) ? MAY : NO;
    return known === MAY;
  }

  #mayStandAt(text: string, at: number, first: number): boolean {
    let beginning = 0;
    for (let end = at; ; end++) {
      const code = text.charCodeAt(end);
      if (!(code < FOLLOWED)) return true;
      let known = this.#beginnings[beginning * FOLLOWED + code] ?? NO;
      if (known === UNKNOWN) known = this.#learn(beginning, code, text.slice(at, end + 1));
      if (known === NO) {
        if (beginning === 0) this.#first[first] = NO;
        return false;
      }
      if (known === MAY) return true;
      beginning = known;
    }
  }

  #learn(beginning: number, code: number, characters: string): number {
    let known = NO;
    if (this.#mayBegin(characters)) known = characters.length === MAX_DEPTH || this.#count === MAX_BEGINNINGS ? MAY : this.#count++;
    if (this.#count * FOLLOWED > this.#beginnings.length) {
      const larger = new Int16Array(this.#beginnings.length * 2);
      larger.set(this.#beginnings);
      this.#beginnings = larger;
    }
    this.#beginnings[beginning * FOLLOWED + code] = known;
    return known;
  }

  /** Whether a match may begin with `characters`, or be complete within them, in any context. */
  #mayBegin(characters: string): boolean {
    return this.#before.some((before) => {
      const there = before + characters;
      return (before === "" ? this.#begun : this.#begunBehindOne).test(there) || this.matching(there, before !== "").length > 0;
    });
  }
}

/** With more instructions, looking for match beginnings costs more than it saves. */
const MAX_INSTRUCTIONS = 1_500;

/** As the constructor; null if the patterns are too large together. */
export function patternStarts(sources: readonly string[], begun: string): PatternStarts | null {
  try {
    const starts = new PatternStarts(sources, begun);
    return starts.size > MAX_INSTRUCTIONS ? null : starts;
  } catch (error) {
    if (error instanceof RE2JSException) return null;
    throw error;
  }
}
