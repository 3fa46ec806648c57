import { type Detector, type DetectedSpan, WINDOW } from "../detector.ts";
import { scan, withTail } from "../scan.ts";
import { looksRandom } from "./looks-random.ts";
import { PrivateKeyTail } from "./private-key-tail.ts";
import { openTokenFrom } from "./token-tail.ts";

const HEADER = /-----BEGIN (?:[A-Z0-9]{1,12} ){0,2}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nr]){0,4}/y;
/** Lines before the body of keys that are encrypted the old way, and of PGP. */
const BODY_HEADER = /^(?:Proc-Type|DEK-Info|Version|Comment|Hash): /;
const BODY = /^(?:[A-Za-z0-9+/=]|\s|\\[nr])*/;

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
  return withTail(text, final, { category: "private_key_pem", start, end: start + header.length, score: 0.98 }, new PrivateKeyTail());
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
