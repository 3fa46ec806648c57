import { unitsOf } from "./code-units.ts";
import { CYRILLIC_LOOK_ALIKES, LATIN_LOOK_ALIKES } from "./look-alikes.ts";

/** Scripts without spaces between words; each of their characters counts as a word. */
const UNSPACED =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";
/** Circled and squared letters: symbols in Unicode, but letters in their compatibility form. */
const ENCLOSED = "\\u24B6-\\u24E9\\u{1F130}-\\u{1F149}";
const WORD = new RegExp(`[[\\p{L}\\p{M}\\p{N}_${ENCLOSED}]--[${UNSPACED}]]+|[${UNSPACED}]\\p{M}*|[^\\s]`, "vy");

/** Words of letters below this are split by character kind alone; Thai, Lao, Khmer and Myanmar are above it. */
const SIMPLE = 0xe00;
/** This range has only spaces and punctuation. */
const PUNCTUATION = { from: 0x2000, to: 0x2070 } as const;

/** Characters whose lower case is also their folded compatibility form: ASCII, and common Latin and Cyrillic letters. */
const PLAIN = "\\p{ASCII}\\u00c0-\\u00d6\\u00d8-\\u00de\\u00e0-\\u00f6\\u00f8-\\u00fe\\u0410-\\u044f\\u0401\\u0451";

/** Greek and Cyrillic. */
const ALIKE_SCRIPTS = "\\u0370-\\u03ff\\u0400-\\u052f";

/** Kana and common Han characters, each of which is a word by itself and its own folded form. */
const WIDE_RANGES = [
  [0x3041, 0x3096],
  [0x30a1, 0x30fa],
  [0x4e00, 0x9fff],
] as const;

/** Chinese and Japanese punctuation and quotes, none of which joins another character. */
function isWideMark(code: number): boolean {
  return code === 0x3001 || code === 0x3002 || (code >= 0x3008 && code <= 0x3011);
}

/** Character kinds. For unknown ones a regular expression decides. */
const UNKNOWN = 0;
const SPACE = 1;
/** A letter whose lower case is its folded form, and any other letter. */
const LETTER = 2;
const STRANGE = 3;
/** A word by itself: always, or unless a mark follows. */
const SIGN = 4;
const WIDE = 5;
const KIND_SHIFT = 12;
const LOWER_MASK = (1 << KIND_SHIFT) - 1;
/** Set for letters of scripts that have Latin look-alikes. */
const ALIKE_SCRIPT = 1 << 15;
const KIND_MASK = 7;
const kindOf = (sign: number): number => (sign >> KIND_SHIFT) & KIND_MASK;

/**
 * For each character: its kind in the upper bits, whether its script has look-alikes in the top bit, and in the lower
 * bits its lower case if that is its folded form.
 */
const SIGNS = signs();

function signs(): Uint16Array {
  const table = new Uint16Array(65_536);
  const spaces = unitsOf("\\s", PUNCTUATION.to);
  const letters = unitsOf("\\p{L}\\p{M}\\p{N}_", PUNCTUATION.to);
  const plain = unitsOf(PLAIN, SIMPLE);
  const alike = unitsOf(ALIKE_SCRIPTS, SIMPLE);
  for (let code = 0; code < PUNCTUATION.to; code = code + 1 === SIMPLE ? PUNCTUATION.from : code + 1) {
    const kind = spaces[code] === 1 ? SPACE : letters[code] !== 1 ? SIGN : plain[code] === 1 ? LETTER : STRANGE;
    const lower = plain[code] === 1 ? String.fromCharCode(code).toLowerCase().charCodeAt(0) : 0;
    table[code] = (kind << KIND_SHIFT) | lower | (alike[code] === 1 ? ALIKE_SCRIPT : 0);
  }
  for (const [first, last] of WIDE_RANGES) table.fill(WIDE << KIND_SHIFT, first, last + 1);
  for (let code = 0x3000; code < 0x3012; code++) if (isWideMark(code)) table[code] = SIGN << KIND_SHIFT;
  return table;
}

function isSpaceAt(text: string, at: number): boolean {
  const kind = kindOf(SIGNS[text.charCodeAt(at)] ?? 0);
  return kind === SPACE || (kind === UNKNOWN && /\s/.test(text.charAt(at)));
}

function withCode(hash: number, lower: number): number {
  return (Math.imul(hash, 31) + lower) | 0;
}

/** Mixes a hash so that the bits kept depend on all of it. */
function spread(sum: number): number {
  return Math.imul(sum, 0x9e3779b1) >>> (32 - HASH_BITS);
}

const HASH_BITS = 20;

/** A hash that ignores case for plain words, or one for a character that is a word by itself; null for other words. */
function quickHash(word: string): number | null {
  const first = word.charCodeAt(0);
  if (word.length === 1 && (kindOf(SIGNS[first] ?? 0) === WIDE || isWideMark(first))) return spread(first);
  let hash = 0;
  for (let i = 0; i < word.length; i++) {
    const lower = (SIGNS[word.charCodeAt(i)] ?? 0) & LOWER_MASK;
    if (lower === 0) return null;
    hash = withCode(hash, lower);
  }
  return spread(hash);
}

/** A bitmap of the hashes of folded words, by which most words of a text are skipped without a look-up. */
export class WordHashes {
  readonly #bits = new Uint32Array(1 << (HASH_BITS - 5));

  constructor(words: Iterable<string>) {
    for (const word of words) {
      const hash = quickHash(word);
      if (hash !== null) this.#bits[hash >>> 5] = (this.#bits[hash >>> 5] ?? 0) | (1 << (hash & 31));
    }
  }

  has(hash: number): boolean {
    return ((this.#bits[hash >>> 5] ?? 0) & (1 << (hash & 31))) !== 0;
  }
}

/** Iterates over the words of a text; every other visible character counts as a word by itself. */
export class WordCursor {
  readonly #text: string;
  /** `quickHash` of the last word's folded form; -1 if unknown. */
  #hash = -1;
  start = 0;
  end = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Moves to the first word at or after `from`, or to the rest of the word that `from` is inside. False at the end. */
  next(from: number): boolean {
    const text = this.#text;
    const { length } = text;
    let at = from;
    while (at < length && isSpaceAt(text, at)) at++;
    if (at >= length) return false;
    this.start = at;
    this.end = this.#measure(text, at);
    if (this.end > at) return true;
    WORD.lastIndex = at;
    WORD.test(text);
    this.end = Math.max(WORD.lastIndex, at + 1);
    return true;
  }

  /** As `next` for words that start before `to`, skipping those that are not among the words of `hashes`. */
  nextOf(hashes: WordHashes, from: number, to: number): boolean {
    const text = this.#text;
    for (let at = from; at < to;) {
      if (kindOf(SIGNS[text.charCodeAt(at)] ?? 0) === SPACE) {
        at++;
        continue;
      }
      const end = this.#measure(text, at);
      if (end === at || this.mayBeOf(hashes)) return this.next(at) && this.start < to;
      at = end;
    }
    return false;
  }

  /** Whether the current word may be one of those of `hashes`. */
  mayBeOf(hashes: WordHashes): boolean {
    return this.#hash < 0 || hashes.has(this.#hash);
  }

  /** End of the word at `at` if its character kinds decide it; otherwise `at`. */
  #measure(text: string, at: number): number {
    const { length } = text;
    const code = text.charCodeAt(at);
    const sign = SIGNS[code] ?? 0;
    let kind = kindOf(sign);
    let end = at + 1;
    this.#hash = -1;
    if (kind === LETTER || kind === STRANGE) {
      let hash = 0;
      let isPlain = true;
      let next = sign;
      let any = 0;
      let every = ALIKE_SCRIPT;
      for (;;) {
        hash = withCode(hash, next & LOWER_MASK);
        if (kind === STRANGE) isPlain = false;
        any |= next;
        every &= next;
        if (end === length) break;
        next = SIGNS[text.charCodeAt(end)] ?? 0;
        kind = kindOf(next);
        if (kind !== LETTER && kind !== STRANGE) break;
        end++;
      }
      // A word that continues in letters of unknown kind is split by the regular expression.
      if (end < length && kind === UNKNOWN) return at;
      if (isPlain && (any & ALIKE_SCRIPT) === every) this.#hash = spread(hash);
      return end;
    }
    if (kind === UNKNOWN) return at;
    if (kind === WIDE) {
      const after = end === length ? SPACE : kindOf(SIGNS[text.charCodeAt(end)] ?? 0);
      if (after === UNKNOWN || after === STRANGE) return at;
      this.#hash = spread(code);
    } else if (isWideMark(code)) this.#hash = spread(code);
    else if ((sign & LOWER_MASK) !== 0) this.#hash = spread(sign & LOWER_MASK);
    return end;
  }
}

/** Matches words that need more than lower-casing to be folded. */
const NEEDS_MORE = new RegExp(`[^${PLAIN}\\u3041-\\u3096\\u30a1-\\u30fa\\u4e00-\\u9fff]`, "u");

const MIXABLE = new RegExp(`[${ALIKE_SCRIPTS}]`);
const LATIN = /\p{Script=Latin}/u;

const substituted = (word: string, letters: ReadonlyMap<string, string>) => word.replace(/./gsu, (letter) => letters.get(letter) ?? letter);

/** The form in which two spellings of a word are equal: NFKC and case-folded. */
export function foldWord(word: string): string {
  if (!NEEDS_MORE.test(word)) return word.toLowerCase();
  return word.normalize("NFKC").toUpperCase().toLowerCase().normalize("NFKC");
}

/**
 * The folded forms that a word is read as. There is only one, unless the word mixes Latin with Cyrillic or Greek
 * look-alikes, which is only done to hide what it says.
 */
export function readingsOf(word: string): readonly string[] {
  const folded = foldWord(word);
  if (!MIXABLE.test(folded) || !LATIN.test(folded)) return [folded];
  // Which letter a foreign one resembles depends on its case.
  return [folded, foldWord(substituted(word.normalize("NFKC"), LATIN_LOOK_ALIKES)), substituted(folded, CYRILLIC_LOOK_ALIKES)];
}
