/** A text that is neither an object nor a list is parsed anew each time it is asked about, up to so many characters. */
const LONGEST_PLAIN = 256;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const isOpening = (code: number) => code === 0x7b || code === 0x5b;
const isClosing = (code: number) => code === 0x7d || code === 0x5d;
const isSpace = (code: number) => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

/**
 * Whether arguments that arrive in pieces are a whole JSON text. Each piece is read once and the whole parsed once, however often it is
 * asked about: the work of a stream grows with its length and no faster. One for each text.
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

  /** `all`: the pieces, joined. */
  isWhole(all: string): boolean {
    return this.stands === "plain" ? all.length <= LONGEST_PLAIN && isJson(all) : this.isClosed(all);
  }

  /** Whether they are an object or a list to its last bracket: with anything behind it they would be no JSON text. */
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
