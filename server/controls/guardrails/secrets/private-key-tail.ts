import type { ValueTail } from "../text/detector.ts";

const FOOTER = /-----END (?:[A-Z0-9]{1,12} ){0,2}PRIVATE KEY(?: BLOCK)?-----/y;
/** Characters of a body; anything else ends the key even without a footer. */
const BODY_CHARACTER = /[A-Za-z0-9+/=\s\\:,.()-]/;
/** A footer that may still be incomplete. */
const FOOTER_START = /^-(?:-{0,4}|-{4}(?:EN?|END[A-Z0-9 ]{0,50}-{0,4}))$/;

/** Enough for the largest keys in use, in characters. */
const MAX_KEY_LENGTH = 16_384;

/** Swallows the body up to and including its footer. */
export class PrivateKeyTail implements ValueTail {
  readonly #between: string;
  #left = MAX_KEY_LENGTH;

  /** `between`: what separates its lines besides white space. */
  constructor(between: string) {
    this.#between = between;
  }

  take(text: string, from: number, final: boolean): { readonly end: number; readonly open: boolean } {
    for (let at = from; at < text.length; at++) {
      const character = text.charAt(at);
      if (character === "-" && text.startsWith("-----END", at)) {
        FOOTER.lastIndex = at;
        const footer = FOOTER.exec(text)?.[0];
        if (footer !== undefined) return { end: at + footer.length, open: false };
      }
      if (this.#between !== "" && this.#left > 0) {
        if (text.startsWith(this.#between, at)) {
          at += this.#between.length - 1;
          this.#left--;
          continue;
        }
        if (!final && this.#between.startsWith(text.slice(at))) return { end: at, open: true };
      }
      if (this.#left === 0 || !BODY_CHARACTER.test(character)) return { end: at, open: false };
      if (character === "-" && !final && FOOTER_START.test(text.slice(at)) && text.length - at < 64) return { end: at, open: true };
      this.#left--;
    }
    return { end: text.length, open: !final };
  }
}
