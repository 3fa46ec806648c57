import type { Detector } from "../text/detector.ts";
import { scan, withTail } from "../text/scan.ts";
import { looksRandom } from "./looks-random.ts";
import { tokenSigns } from "./token-signs.ts";
import { openTokenFrom, TokenTail } from "./token-tail.ts";

/** A kind of key or token recognised by its issuer's prefix. */
interface IssuedToken {
  readonly category: string;
  /** Each token starts with one of these texts. */
  readonly signs: readonly string[];
  /** Regular expression that every token begins with. */
  readonly begins: string;
  /**
   * The sticky patterns, with the random part as their group. None reads more than 95 characters, which must be enough
   * to identify a token; `rest` matches what follows.
   */
  readonly shapes: readonly RegExp[];
  readonly rest: RegExp;
}

/** Random text has digits and letters, or both cases; words joined by dashes have not. */
function isDrawn(body: string): boolean {
  return looksRandom(body) && (/\d/.test(body) ? /[A-Za-z]/.test(body) : /[A-Z]/.test(body) && /[a-z]/.test(body));
}

/** Detects the tokens of one issuer, as its documentation describes them. */
export function issuedToken({ category, signs, begins, shapes, rest }: IssuedToken): Detector {
  const maySay = tokenSigns(...signs);
  const candidate = new RegExp(`(?<![A-Za-z0-9])(?:${begins})`, "g");
  const tokenAt = (text: string, start: number, final: boolean) => {
    for (const shape of shapes) {
      shape.lastIndex = start;
      const match = shape.exec(text);
      if (match === null || !isDrawn(match[1] ?? "")) continue;
      return withTail(text, final, { category, start, end: start + match[0].length, score: 0.95 }, new TokenTail(rest));
    }
    return null;
  };
  return {
    check: "secrets",
    maxLength: 95,
    find: (text, from, to, final) => (maySay(text, from) ? scan(text, candidate, from, to, (at) => tokenAt(text, at, final)) : []),
    openFrom: openTokenFrom,
  };
}
