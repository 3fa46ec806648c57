/** How JSON text begins, as models and tools write it, bare or fenced. Prose that begins with a bracket does not match. */
const BEGINS = /^(?:```(?:json)?\s*)?(?:\{\s*["}]|\[\s*["{[])/i;
const MAY_BEGIN = /^(?:`{0,3}|```j?s?o?n?\s*|(?:```(?:json)?\s*)?[{[]\s*)$/i;

const BACKSLASH = 92;
const QUOTE = 34;
const LETTER_U = 117;
/** What the character after a backslash stands for. */
const MEANING: Readonly<Record<string, string>> = {
  ...{ '"': '"', "\\": "\\", "/": "/" },
  ...{ b: " ", f: " ", n: "\n", r: "\r", t: "\t" },
};
const HEX = /^[0-9A-Fa-f]{4}$/;

export function beginsAsJson(text: string): boolean {
  return BEGINS.test(text.trimStart());
}

/** Decides whether a text that arrives in pieces is JSON, from its beginning. */
export class JsonBeginning {
  private begun: string | null = "";
  private known = false;

  /** Takes the next piece; true once the text is known to be JSON. */
  take(piece: string): boolean {
    if (this.begun === null) return this.known;
    this.begun = (this.begun + piece).trimStart().slice(0, 64);
    this.known = BEGINS.test(this.begun);
    if (this.known || !MAY_BEGIN.test(this.begun)) this.begun = null;
    return this.known;
  }
}

/** The character and length of the escape at `at`; null if there is none. */
export function escapeAt(text: string, at: number): { readonly character: string; readonly length: number } | null {
  if (text.charCodeAt(at) !== BACKSLASH) return null;
  if (text.charCodeAt(at + 1) === LETTER_U) {
    const digits = text.slice(at + 2, at + 6);
    return HEX.test(digits) ? { character: String.fromCharCode(Number.parseInt(digits, 16)), length: 6 } : null;
  }
  const character = MEANING[text.charAt(at + 1)];
  return character === undefined ? null : { character, length: 2 };
}

/** Start of an escape that the end of the text cuts off; the text's length if there is none. */
export function cutEscapeFrom(text: string): number {
  const from = text.lastIndexOf("\\");
  if (from < text.length - 5 || from < 0) return text.length;
  let first = from;
  while (text.charCodeAt(first - 1) === BACKSLASH) first--;
  // Two backslashes are one escaped backslash.
  if ((from - first) % 2 === 1) return text.length;
  const rest = text.slice(from + 1);
  return rest === "" || /^u[0-9A-Fa-f]{0,3}$/.test(rest) ? from : text.length;
}

/** Tracks a JSON text to tell which offsets are within strings. */
export class JsonStrings {
  private at: number;
  private within = false;
  private escaped = false;

  /** `at`: the offset to start from, which must be outside strings. */
  constructor(at: number) {
    this.at = at;
  }

  /** Whether `place` is within a string; places must not decrease. `base`: offset of `text` in the whole text. */
  holds(text: string, base: number, place: number): boolean {
    for (; this.at < place; this.at++) {
      const code = text.charCodeAt(this.at - base);
      if (this.escaped) this.escaped = false;
      else if (code === BACKSLASH) this.escaped = this.within;
      else if (code === QUOTE) this.within = !this.within;
    }
    return this.within;
  }
}
