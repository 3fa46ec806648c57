import { type Detector, type DetectedSpan, WINDOW } from "../text/detector.ts";
import { scan, withTail } from "../text/scan.ts";
import { looksRandom } from "./looks-random.ts";
import { PrivateKeyTail } from "./private-key-tail.ts";
import { openTokenFrom } from "./token-tail.ts";

const HEADER = /^-----BEGIN (?:[A-Z0-9]{1,12} ){0,2}PRIVATE KEY(?: BLOCK)?-----/;
const BLANK = String.raw`\s|\\+[nr\s]`;
/**
 * What may separate two lines: real or escaped line ends, and characters that quote an email, comment out code,
 * concatenate strings, draw a table or break lines in HTML.
 */
const BETWEEN_LINES = new RegExp(
  String.raw`^(?:${BLANK}|>|#|\*|\||\+|;|//|<br ?/?>|&#(?:10|13|x0?[ad]);|%0[ad]|["'\x60][\s+.,&\\]{0,16}["'\x60]){0,24}`,
  "i",
);
const OUTER_BLANKS = new RegExp(`^(?:${BLANK})+|\\s+$`, "g");
/** Header lines before the body of PGP keys and of keys in the old encrypted format. */
const BODY_HEADER = /^(?:Proc-Type|DEK-Info|Version|Comment|Hash): /;
const BODY = new RegExp(`^(?:[A-Za-z0-9+/=]|${BLANK})*`);
const BLANKS = new RegExp(BLANK, "g");

function keyAt(text: string, start: number, final: boolean): DetectedSpan | null {
  const window = text.slice(start, start + WINDOW - 1);
  const header = HEADER.exec(window)?.[0];
  if (header === undefined) return null;
  const between = BETWEEN_LINES.exec(window.slice(header.length))?.[0] ?? "";
  const body = window.slice(header.length + between.length);
  const characters = BODY.exec(body)?.[0] ?? "";
  const key = characters.replace(BLANKS, "");
  const ends = body.startsWith("-----END", characters.length);
  const isKey = BODY_HEADER.test(body) || ((key.length >= 40 || (ends && key.length >= 16)) && looksRandom(key));
  if (!isKey) return null;
  const tail = new PrivateKeyTail(between.replace(OUTER_BLANKS, ""));
  return withTail(text, final, { category: "private_key_pem", start, end: start + header.length + between.length, score: 0.98 }, tail);
}

/** PEM private keys of any kind, however their lines are broken, quoted or joined. A header merely mentioned in prose does not count. */
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
