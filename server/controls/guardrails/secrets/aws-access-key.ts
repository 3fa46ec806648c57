import { type Detector, type DetectedSpan, LEFT } from "../text/detector.ts";
import { scan } from "../text/scan.ts";
import { looksRandom } from "./looks-random.ts";
import { tokenSigns } from "./token-signs.ts";
import { openTokenFrom } from "./token-tail.ts";

const KEY_ID = /(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])/y;
/** Forty characters, in which slashes and plus signs may be escaped as in JSON, URLs and forms. */
const SECRET = /(?:[A-Za-z0-9/+]|\\\/|%2[BbFf]){40}(?![A-Za-z0-9/+]|={1,2}(?![A-Za-z0-9]))/y;
const MAX_SECRET_LENGTH = 95;

/**
 * The secret key's name as AWS and others spell it (`SecretAccessKey`, `AWS_SECRET_ACCESS_KEY`, `aws.secretKey`, `Secret access key`),
 * with whatever separates name and value in various languages and formats: at most a few words such as `value:` or `default =`.
 */
const NAME =
  /(?:secret[\s_.-]{0,2}access[\s_.-]{0,2}key|(?:aws|amazon|s3a?|iam|minio)[\w\s.:-]{0,24}(?:secret|sk)|(?<![a-z])(?:secret|sk)[\s_.-]{0,2}key)\w{0,8}(?: ?\[[^\]]{0,24}\])?[^\w+]{0,14}(?:\w{1,12}[^\w+]{1,14}){0,3}$/i;
/** In a call's arguments, a table row or a URL, the secret directly follows the ID. */
const BEHIND_ID = /(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}[^A-Za-z0-9]{1,14}(?:\w{0,14}secret\w{0,14}[^A-Za-z0-9]{1,10})?$/i;

/** A random key mixes character classes; hashes and paths do not. */
function isDrawn(secret: string): boolean {
  return /[a-z]/.test(secret) && /[A-Z]/.test(secret) && /[\d/+]/.test(secret) && looksRandom(secret);
}

function idAt(text: string, start: number): DetectedSpan | null {
  KEY_ID.lastIndex = start;
  const id = KEY_ID.exec(text)?.[0];
  return id !== undefined && looksRandom(id) ? { category: "aws_access_key", start, end: start + id.length, score: 0.95 } : null;
}

function secretAt(text: string, start: number): DetectedSpan | null {
  SECRET.lastIndex = start;
  const secret = SECRET.exec(text)?.[0];
  if (secret === undefined || secret.length > MAX_SECRET_LENGTH || !isDrawn(secret)) return null;
  const before = text.slice(Math.max(0, start - LEFT), start);
  if (!NAME.test(before) && !BEHIND_ID.test(before)) return null;
  return { category: "aws_access_key", start, end: start + secret.length, score: 0.9 };
}

const KEY_ID_START = /(?<![A-Za-z0-9])A(?:KIA|SIA|BIA|CCA|3T[A-Z0-9])[A-Z0-9]/g;
const mayHaveId = tokenSigns("AKIA", "ASIA", "ABIA", "ACCA", "A3T");
/** Required before any secret: a name, or an ID. */
const HAS_SECRET = /secret|aws|(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}/i;

/** The characters of a secret, including its escapes. */
const OF_SECRET = Uint8Array.from({ length: 128 }, (_, code) => (/[A-Za-z0-9/+\\%]/.test(String.fromCharCode(code)) ? 1 : 0));
const isOfSecret = (code: number) => code < 128 && OF_SECRET[code] === 1;
const SHORTEST_SECRET = 40;
/** Escapes that precede a value without belonging to it: line ends, quotes, equals signs. */
const ESCAPE_BEFORE = /(?:\\[^/]|%(?!2[BbFf])[0-9A-Fa-f]{2})*/y;

/** Secrets that start in [from, to); each begins a run of its characters. */
function secretsIn(text: string, from: number, to: number): DetectedSpan[] {
  const found: DetectedSpan[] = [];
  const { length } = text;
  let at = from;
  if (at > 0 && isOfSecret(text.charCodeAt(at - 1))) while (at < length && isOfSecret(text.charCodeAt(at))) at++;
  while (at < to) {
    const run = at;
    while (at < length && isOfSecret(text.charCodeAt(at))) at++;
    if (at - run >= SHORTEST_SECRET) {
      ESCAPE_BEFORE.lastIndex = run;
      const start = run + (ESCAPE_BEFORE.exec(text)?.[0].length ?? 0);
      const secret = start < to ? secretAt(text, start) : null;
      if (secret !== null) found.push(secret);
    }
    at = Math.max(at, run + 1);
  }
  return found;
}

/** AWS access key IDs, and secret keys near a name or an ID that identifies them. */
export const awsAccessKey: Detector = {
  check: "secrets",
  maxLength: MAX_SECRET_LENGTH,
  find(text, from, to) {
    const ids = mayHaveId(text, from) ? scan(text, KEY_ID_START, from, to, (at) => idAt(text, at)) : [];
    const secrets = HAS_SECRET.test(text) ? secretsIn(text, from, to) : [];
    if (secrets.length === 0) return ids;
    const both = [...ids, ...secrets].toSorted((a, b) => a.start - b.start);
    return both.filter(({ start }, n) => n === 0 || start >= (both[n - 1]?.end ?? 0));
  },
  openFrom: openTokenFrom,
};
