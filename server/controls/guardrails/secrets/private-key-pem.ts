import { type Detector, type DetectedSpan, scan, type ValueTail, withTail, WINDOW } from "../detector.ts";
import { looksRandom } from "./looks-random.ts";
import { openTokenFrom } from "./token-tail.ts";

const HEADER = /-----BEGIN (?:[A-Z0-9]{1,12} ){0,2}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nr]){0,4}/y;
const FOOTER = /-----END (?:[A-Z0-9]{1,12} ){0,2}PRIVATE KEY(?: BLOCK)?-----/y;
/** Lines before the body of keys that are encrypted the old way, and of PGP. */
const BODY_HEADER = /^(?:Proc-Type|DEK-Info|Version|Comment|Hash): /;
const BODY = /^(?:[A-Za-z0-9+/=]|\s|\\[nr])*/;
/** What a body may hold; anything else ends the key although no footer came. */
const BODY_CHARACTER = /[A-Za-z0-9+/=\s\\:,.()-]/;
/** A footer that may still be incomplete. */
const FOOTER_START = /^-(?:-{0,4}|-{4}(?:EN?|END[A-Z0-9 ]{0,50}-{0,4}))$/;

/** Enough for the largest keys in use. */
const LONGEST_KEY = 16_384;

/** Swallows the body up to its footer. */
class KeyTail implements ValueTail {
  #left = LONGEST_KEY;

  take(text: string, from: number, final: boolean): { readonly end: number; readonly open: boolean } {
    for (let at = from; at < text.length; at++) {
      const character = text.charAt(at);
      if (character === "-" && text.startsWith("-----END", at)) {
        FOOTER.lastIndex = at;
        const footer = FOOTER.exec(text)?.[0];
        if (footer !== undefined) return { end: at + footer.length, open: false };
      }
      if (this.#left === 0 || !BODY_CHARACTER.test(character)) return { end: at, open: false };
      if (character === "-" && !final && FOOTER_START.test(text.slice(at)) && text.length - at < 64) return { end: at, open: true };
      this.#left--;
    }
    return { end: text.length, open: !final };
  }
}

function keyAt(text: string, start: number, final: boolean): DetectedSpan | null {
  HEADER.lastIndex = start;
  const header = HEADER.exec(text)?.[0];
  if (header === undefined) return null;
  const body = text.slice(start + header.length, start + WINDOW - 1);
  const characters = BODY.exec(body)?.[0] ?? "";
  const key = characters.replace(/\\[nr]|\s/g, "");
  const ends = body.startsWith("-----END", characters.length);
  const isKey = BODY_HEADER.test(body) || ((key.length >= 40 || (ends && key.length >= 16)) && looksRandom(key));
  if (!isKey) return null;
  return withTail(text, final, { category: "private_key_pem", start, end: start + header.length, score: 0.98 }, new KeyTail());
}

/** Private keys in PEM, of any kind and with real or escaped line ends. A header that only prose mentions is none. */
export const privateKeyPem: Detector = {
  check: "secrets",
  maxLength: WINDOW - 1,
  find: (text, from, to, final) =>
    text.includes("-----BEGIN ") ? scan(text, /-----BEGIN [A-Z]/g, from, to, (at) => keyAt(text, at, final)) : [],
  openFrom(text) {
    const header = text.indexOf("-----BEGIN ", Math.max(0, text.length - WINDOW));
    const word = openTokenFrom(text);
    return header < 0 ? word : Math.min(header, word);
  },
};
