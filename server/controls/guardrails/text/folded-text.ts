import { isHighSurrogate } from "./characters.ts";
import { unitsOf } from "./code-units.ts";
import { escapeAt } from "./json-text.ts";

/**
 * The copy of a text that detectors read: full-width and other forms of digits, letters, spaces, dashes and quotes become ASCII, and
 * invisible characters and Markdown's escapes of underscores are removed, so that none of them hides a value. Offsets map back exactly.
 */
export interface FoldedText {
  readonly text: string;
  /** Original offset of the folded character at `at`; the folded length maps to the original length. */
  toOriginal(at: number): number;
  /** Original end of a value that ends before the folded offset `end`. */
  endToOriginal(end: number): number;
  /** Offset of the first folded character at or after the original offset `at`. */
  toFolded(at: number): number;
}

/** Control characters other than white space, and default-ignorable characters of one code unit; `isInvisiblePair` covers those of two. */
const INVISIBLE =
  "\\u0000-\\u0008\\u000E-\\u001B\\u007F-\\u0084\\u0086-\\u009F\\u00AD\\u034F\\u061C\\u115F\\u1160\\u17B4\\u17B5\\u180B-\\u180F\\u200B-\\u200F\\u202A-\\u202E\\u2060-\\u206F\\u3164" +
  "\\uFE00-\\uFE0F\\uFEFF\\uFFA0\\uFFF0-\\uFFF8" +
  // Marks that strike out, underline or enclose any character without making another letter of it.
  "\\u0305\\u0332-\\u0338\\u20D0-\\u20F0\\uFE20-\\uFE2F";
const SPACES = "\\u00A0\\u1680\\u2000-\\u200A\\u202F\\u205F\\u3000";
const DASHES = "\\u2010-\\u2015\\u2212\\uFE58\\uFE63";
/** The zero of each script's decimal digits. */
const ZEROS = [
  ...[0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0, 0xf20, 0x1040, 0x1090],
  ...[0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50],
  0xabf0,
];
/** The same for digits outside the BMP, except mathematical ones. */
const ZEROS_OF_PAIRS = [
  ...[0x104a0, 0x10d30, 0x10d40, 0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650, 0x116c0, 0x116d0, 0x116da],
  ...[0x11730, 0x118e0, 0x11950, 0x11bf0, 0x11c50, 0x11d50, 0x11da0, 0x11de0, 0x11f50, 0x16130, 0x16a60, 0x16ac0, 0x16b50, 0x16d70],
  ...[0x1ccf0, 0x1e140, 0x1e2f0, 0x1e4f0, 0x1e5f1, 0x1e950, 0x1fbf0],
];
const range = (from: number, to: number) => `${String.fromCharCode(from)}-${String.fromCharCode(to)}`;
const DIGITS = ZEROS.map((zero) => range(zero, zero + 9)).join("");

const FOLDABLE = `${INVISIBLE}${SPACES}${DASHES}${DIGITS}\\u2018\\u2019\\u201C\\u201D\\uFF01-\\uFF5E`;
/** High surrogate of mathematical letters and digits. */
const MATHEMATICAL = 0xd835;
/** High surrogates of invisible characters: shorthand and musical controls, tags, variation selectors. */
const SHORTHAND = 0xd82f;
const MUSICAL = 0xd834;
const TAGS = 0xdb40;
/** High surrogate of tag characters. */
export const TAGS_HALF = String.fromCharCode(TAGS);
const LAST_TAGS = 0xdb43;
/** Low surrogates of zeros, by high surrogate. */
const PAIRED_ZEROS = Map.groupBy(
  ZEROS_OF_PAIRS.map((zero) => String.fromCodePoint(zero)),
  (zero) => zero.charCodeAt(0),
);
const BEGINS_PAIR = new Set([MATHEMATICAL, SHORTHAND, MUSICAL, ...PAIRED_ZEROS.keys()]);
const beginsPair = (code: number) => code >= 0xd800 && (BEGINS_PAIR.has(code) || (code >= TAGS && code <= LAST_TAGS));
const IS_FOLDABLE = unitsOf(FOLDABLE).fill(1, TAGS, LAST_TAGS + 1);
for (const half of BEGINS_PAIR) IS_FOLDABLE[half] = 1;
const BACKSLASH = 92;
const UNDERSCORE = 95;
IS_FOLDABLE[BACKSLASH] = 1;

/** The digit, other than mathematical, that a surrogate pair represents; null if none. */
function pairedDigit(high: number, low: number): number | null {
  for (const zero of PAIRED_ZEROS.get(high) ?? []) {
    const digit = low - zero.charCodeAt(1);
    if (digit >= 0 && digit <= 9) return digit;
  }
  return null;
}

function isMathematical(low: number): boolean {
  return (low >= 0xdc00 && low <= 0xdea3) || (low >= 0xdfce && low <= 0xdfff);
}

function isInvisiblePair(high: number, low: number): boolean {
  if (high === SHORTHAND) return low >= 0xdca0 && low <= 0xdca3;
  if (high === MUSICAL) return low >= 0xdd73 && low <= 0xdd7a;
  return high >= TAGS && high <= LAST_TAGS && low >= 0xdc00 && low <= 0xdfff;
}

/** Whether the pair has a folded form; most with the same high surrogate have none. */
function isFoldablePair(high: number, low: number): boolean {
  return high === MATHEMATICAL ? isMathematical(low) : isInvisiblePair(high, low) || pairedDigit(high, low) !== null;
}

/** Offset of the next character at or after `from` with a folded form; -1 if there is none. */
function nextFoldable(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (IS_FOLDABLE[code] !== 1) continue;
    if (code === BACKSLASH ? escapesUnderscore(text, at) : !beginsPair(code) || isFoldablePair(code, text.charCodeAt(at + 1))) return at;
  }
  return -1;
}

/** Markdown escapes an underscore with a backslash, which is invisible when rendered. */
const escapesUnderscore = (text: string, at: number): boolean => text.charCodeAt(at + 1) === UNDERSCORE;

const IS_INVISIBLE = new RegExp(`[${INVISIBLE}]`);
const IS_SPACE = new RegExp(`[${SPACES}]`);
const IS_DASH = new RegExp(`[${DASHES}]`);

/** Whether there is, at `at`, a tag character that mirrors printable ASCII. */
export function isTagOfAscii(text: string, at: number): boolean {
  const low = text.charCodeAt(at + 1);
  return text.charCodeAt(at) === TAGS && low >= 0xdc20 && low <= 0xdc7e;
}

/** The folded form: as long as before, or one code unit shorter. */
function fold(character: string): string {
  const code = character.charCodeAt(0);
  if (character.length === 2) {
    const low = character.charCodeAt(1);
    if (code === TAGS) return String.fromCharCode(low - 0xdc00);
    if (code !== MATHEMATICAL) return String(pairedDigit(code, low));
    if (low >= 0xdfce) return String.fromCharCode(48 + ((low - 0xdfce) % 10));
    const letter = (low - 0xdc00) % 52;
    return String.fromCharCode(letter < 26 ? 65 + letter : 71 + letter);
  }
  if (code >= 0xff01) return String.fromCharCode(code - 0xfee0);
  if (code === 0x2018 || code === 0x2019) return "'";
  if (code === 0x201c || code === 0x201d) return '"';
  if (IS_SPACE.test(character)) return " ";
  if (IS_DASH.test(character)) return "-";
  const zero = ZEROS.find((start) => code >= start && code <= start + 9);
  return zero === undefined ? character : String.fromCharCode(48 + code - zero);
}

/** Index of the last of the sorted `places` at or before `at`; -1 if there is none. */
function lastAtOrBefore(places: readonly number[], at: number): number {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((places[middle] ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The text unchanged. */
export function unfolded(text: string): FoldedText {
  const same = (at: number) => at;
  return { text, toOriginal: same, endToOriginal: same, toFolded: same };
}

/**
 * The text as read by those who see tag characters, each as the ASCII character that it mirrors. Null if the text has
 * none, so that `foldText` is the only reading.
 */
export function foldTextWithTags(original: string, read = foldText): FoldedText | null {
  for (let at = original.indexOf(TAGS_HALF); at >= 0; at = original.indexOf(TAGS_HALF, at + 1))
    if (isTagOfAscii(original, at)) return read(original, true);
  return null;
}

/** A JSON document's text as its parser reads it: escapes are resolved wherever they occur. */
export function foldJsonText(original: string, readsTags = false): FoldedText {
  const read = readEscapes(original);
  const folded = foldText(read.text, readsTags);
  return read.text === original ? folded : foldedAgain(read, folded);
}

/** Composes two foldings: `second` is the folding of `first`'s text. */
export function foldedAgain(first: FoldedText, second: FoldedText): FoldedText {
  return {
    text: second.text,
    toOriginal: (at) => first.toOriginal(second.toOriginal(at)),
    endToOriginal: (end) => (end === 0 ? 0 : first.endToOriginal(second.endToOriginal(end))),
    toFolded: (at) => second.toFolded(first.toFolded(at)),
  };
}

function readEscapes(original: string): FoldedText {
  const pieces: string[] = [];
  /** Offsets of unescaped characters in the result, and the total code units removed up to each. */
  const places: number[] = [];
  const counts: number[] = [];
  let from = 0;
  let vanished = 0;
  for (let at = original.indexOf("\\"); at >= 0;) {
    const escape = escapeAt(original, at);
    if (escape !== null) {
      pieces.push(original.slice(from, at), escape.character);
      places.push(at - vanished);
      vanished += escape.length - 1;
      counts.push(vanished);
      from = at + escape.length;
    }
    at = original.indexOf("\\", at + (escape?.length ?? 1));
  }
  if (places.length === 0) return unfolded(original);
  pieces.push(original.slice(from));
  const text = pieces.join("");
  const endToOriginal = (end: number) => end + (counts[lastAtOrBefore(places, end - 1)] ?? 0);
  return { text, toOriginal: endToOriginal, endToOriginal, toFolded: (place) => firstAtOrBehind(text.length, place, endToOriginal) };
}

/** A copy of a text with characters removed or pairs replaced by one; `toOriginal` maps its offsets back. */
export function shortened(original: string, text: string, toOriginal: (at: number) => number): FoldedText {
  return {
    text,
    toOriginal,
    endToOriginal(end) {
      if (end === 0) return 0;
      const last = toOriginal(end - 1);
      const code = original.charCodeAt(last);
      return last + (isHighSurrogate(code) && text.charCodeAt(end - 1) !== code ? 2 : 1);
    },
    toFolded: (place) => firstAtOrBehind(text.length, place, toOriginal),
  };
}

/** The first offset, in a text of that length, that maps to `place` or later in the original. */
function firstAtOrBehind(length: number, place: number, toOriginal: (at: number) => number): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (toOriginal(middle) < place) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Folding at a place depends only on the character there and the next one. Tag characters are removed unless `readsTags`. */
export function foldText(original: string, readsTags = false): FoldedText {
  let at = nextFoldable(original, 0);
  if (at < 0) return unfolded(original);
  const pieces: string[] = [];
  let from = 0;
  /** Folded offsets before which characters were removed, and the total removed up to each. */
  const places: number[] = [];
  const counts: number[] = [];
  let vanished = 0;
  for (let character = ""; at >= 0; at = nextFoldable(original, at + character.length)) {
    const code = original.charCodeAt(at);
    character = original.slice(at, at + (beginsPair(code) ? 2 : 1));
    const invisible =
      character.length === 1
        ? code === BACKSLASH || IS_INVISIBLE.test(character)
        : isInvisiblePair(code, character.charCodeAt(1)) && !(readsTags && isTagOfAscii(character, 0));
    if (invisible || character.length === 2) {
      // For a pair that is a letter, the second half is removed, so the folded character maps to the pair's start.
      const place = (invisible ? at : at + 1) - vanished;
      vanished += invisible ? character.length : 1;
      if (places.at(-1) === place) counts[counts.length - 1] = vanished;
      else {
        places.push(place);
        counts.push(vanished);
      }
    }
    if (at > from) pieces.push(original.slice(from, at));
    if (!invisible) pieces.push(fold(character));
    from = at + character.length;
  }
  pieces.push(original.slice(from));
  const text = pieces.join("");
  return shortened(original, text, (folded) => folded + (counts[lastAtOrBefore(places, folded)] ?? 0));
}
