/** Scripts that put no spaces between words: each of their characters counts as a word. */
const UNSPACED = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";
const WORD = new RegExp(`[[\\p{L}\\p{M}\\p{N}_]--[${UNSPACED}]]+|[${UNSPACED}]\\p{M}*|[^\\s]`, "vy");

const OTHER = 0;
const LETTER = 1;
const SPACE = 2;
/** What the characters of most alphabets are, so that they need no regular expression; those behind are asked each. */
const KNOWN = 0x2070;
const KINDS = Uint8Array.from({ length: KNOWN }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/\s/.test(character)) return SPACE;
  return /[\p{L}\p{M}\p{N}_]/u.test(character) && !new RegExp(`[${UNSPACED}]`, "u").test(character) ? LETTER : OTHER;
});
/** Letters below it are measured by their kind alone: Thai, Lao, Khmer and Myanmar stand behind it. */
const SIMPLE = 0xe00;

function kindAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code < KNOWN) return KINDS[code] ?? OTHER;
  return /\s/.test(text.charAt(at)) ? SPACE : OTHER;
}

function withCode(hash: number, code: number): number {
  return (Math.imul(hash, 31) + (code >= 65 && code <= 90 ? code + 32 : code)) | 0;
}

/** Kana and the common Han characters, each of which is a word; no other form of them folds to the same. */
function isUnspaced(code: number): boolean {
  return (code >= 0x4e00 && code <= 0x9fff) || (code >= 0x3041 && code <= 0x3096) || (code >= 0x30a1 && code <= 0x30fa);
}

/** A number that is the same for ASCII words that differ in case only, and one for a Han or Kana character; null for other words. */
export function quickHash(word: string): number | null {
  if (word.length === 1 && isUnspaced(word.charCodeAt(0))) return word.charCodeAt(0);
  let hash = 0;
  for (let i = 0; i < word.length; i++) {
    const code = word.charCodeAt(i);
    if (code >= 128) return null;
    hash = withCode(hash, code);
  }
  return hash;
}

/** Walks over the words of a text; every other visible character counts as a word of its own. */
export class WordCursor {
  readonly #text: string;
  start = 0;
  end = 0;
  /** `quickHash` of the word. */
  hash: number | null = null;

  constructor(text: string) {
    this.#text = text;
  }

  /** Moves to the first word that starts at or behind `from`, or, when `from` is inside a word, to its rest. False at the end. */
  next(from: number): boolean {
    const text = this.#text;
    const { length } = text;
    let at = from;
    while (at < length && kindAt(text, at) === SPACE) at++;
    if (at >= length) return false;
    this.start = at;
    let code = text.charCodeAt(at);
    if (code < SIMPLE) {
      let hash = withCode(0, code);
      let seen = code;
      at++;
      if (KINDS[code] === LETTER) {
        while ((code = text.charCodeAt(at)) < SIMPLE && KINDS[code] === LETTER) {
          hash = withCode(hash, code);
          seen |= code;
          at++;
        }
      }
      // A word that goes on in other letters is measured as a whole.
      if (at >= length || code < SIMPLE || (code >= 0x2000 && code < KNOWN)) {
        this.end = at;
        this.hash = seen < 128 ? hash : null;
        return true;
      }
    }
    const after = text.charCodeAt(at + 1);
    if (isUnspaced(code) && (isUnspaced(after) || after === 0x3002 || after === 0xff0c || at + 1 === length)) {
      this.end = at + 1;
      this.hash = code;
      return true;
    }
    this.hash = null;
    WORD.lastIndex = this.start;
    WORD.test(text);
    this.end = Math.max(WORD.lastIndex, this.start + 1);
    return true;
  }
}

/** Characters whose lower case is already their folded and compatible form: ASCII, and the common letters of Latin, Cyrillic, Kana and Han. */
const NEEDS_MORE = /[^\p{ASCII}\u00c0-\u00d6\u00d8-\u00de\u00e0-\u00f6\u00f8-\u00fe\u0410-\u044f\u0401\u0451\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff]/u;

/** The form in which two spellings of a word are the same: compatibility forms and case folded. */
export function foldWord(word: string): string {
  if (!NEEDS_MORE.test(word)) return word.toLowerCase();
  return word.normalize("NFKC").toUpperCase().toLowerCase().normalize("NFKC");
}
