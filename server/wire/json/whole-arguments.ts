/** Characters. A text that is neither an object nor an array is parsed again on each call, up to this length. */
const MAX_PLAIN_LENGTH = 256;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const isOpening = (code: number) => code === 0x7b || code === 0x5b;
const isClosing = (code: number) => code === 0x7d || code === 0x5d;
const isSpace = (code: number) => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

/**
 * Whether tool arguments that arrive in pieces form a complete JSON text. Scans each piece once and parses the whole once,
 * however often it is called, so the work is linear in the length of the stream. One instance per text.
 */
export class WholeArguments {
  private stands: "before" | "within" | "behind" | "plain" | "broken" = "before";
  private depth = 0;
  private quoted = false;
  private escaped = false;
  private verdict: boolean | null = null;

  push(piece: string): void {
    for (let at = 0; at < piece.length; at++) {
      const code = piece.charCodeAt(at);
      if (this.stands === "within") this.within(code);
      else if (this.stands === "plain" || this.stands === "broken") return;
      else if (isSpace(code)) continue;
      else if (this.stands === "behind") this.stands = "broken";
      else if (isOpening(code)) {
        this.stands = "within";
        this.depth = 1;
      } else this.stands = "plain";
    }
  }

  /** `all` is the concatenation of all pieces. */
  isWhole(all: string): boolean {
    return this.stands === "plain" ? all.length <= MAX_PLAIN_LENGTH && isJson(all) : this.isClosed(all);
  }

  /** Whether the text is a complete object or array. Anything further would make it invalid JSON. */
  isClosed(all: string): boolean {
    return this.stands === "behind" && (this.verdict ??= isJson(all));
  }

  private within(code: number): void {
    if (this.escaped) this.escaped = false;
    else if (code === QUOTE) this.quoted = !this.quoted;
    else if (this.quoted) this.escaped = code === BACKSLASH;
    else if (isOpening(code)) this.depth++;
    else if (isClosing(code) && --this.depth === 0) this.stands = "behind";
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
