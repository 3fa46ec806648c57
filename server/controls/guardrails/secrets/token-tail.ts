import { lastWordFrom } from "../text/characters.ts";
import type { ValueTail } from "../text/detector.ts";

/** Longer than any issuer's tokens: anything beyond this is something else, and the stream continues. */
const MAX_TAIL_LENGTH = 16_384;

/** Most characters of a word that wait for more of it. */
const MAX_OPEN_LENGTH = 127;

/** Follows a token as long as its characters continue. */
export class TokenTail implements ValueTail {
  readonly #character: RegExp;
  #left = MAX_TAIL_LENGTH;

  /** `character` matches a single character of the token. */
  constructor(character: RegExp) {
    this.#character = character;
  }

  take(text: string, from: number, final: boolean): { readonly end: number; readonly open: boolean } {
    let end = from;
    while (end < text.length && this.#left > 0 && this.#character.test(text.charAt(end))) {
      end++;
      this.#left--;
    }
    return { end, open: end === text.length && !final && this.#left > 0 };
  }
}

/** Start of the unbroken word at the end of `text`: tokens contain no white space, so nothing before it is open. */
export function openTokenFrom(text: string): number {
  return lastWordFrom(text, Math.max(0, text.length - MAX_OPEN_LENGTH));
}
