import type { Detector } from "../text/detector.ts";
import { scan, withTail } from "../text/scan.ts";
import { looksRandom } from "./looks-random.ts";
import { openTokenFrom, TokenTail } from "./token-tail.ts";

/** A key or token that is known by what its issuer puts in front of it. */
interface IssuedToken {
  readonly category: string;
  /** Texts of which each of them holds one at its start. */
  readonly signs: readonly string[];
  /** What every one of them begins with. */
  readonly begins: string;
  /**
   * The shapes, each sticky, with the part that was drawn at random as its group. None reads more than 95 characters: that
   * much has to show what it is, and what follows is `rest`.
   */
  readonly shapes: readonly RegExp[];
  readonly rest: RegExp;
}

/** What is drawn at random has digits beside letters, or small letters beside capitals; words joined by dashes have not. */
function isDrawn(body: string): boolean {
  return looksRandom(body) && (/\d/.test(body) ? /[A-Za-z]/.test(body) : /[A-Z]/.test(body) && /[a-z]/.test(body));
}

/** Tokens of one issuer, as its documentation writes them. */
export function issuedToken({ category, signs, begins, shapes, rest }: IssuedToken): Detector {
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
    find: (text, from, to, final) =>
      signs.some((sign) => text.includes(sign, from)) ? scan(text, candidate, from, to, (at) => tokenAt(text, at, final)) : [],
    openFrom: openTokenFrom,
  };
}
