import { type Detector, type DetectedSpan, scan } from "../detector.ts";
import { looksRandom } from "./looks-random.ts";
import { openTokenFrom } from "./token-tail.ts";

const KEY_ID = /(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])/y;
const SECRET = /[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])/y;
/** As people call it, and as AWS spells it itself (`SecretAccessKey`), in any case and with any separator. */
const SECRET_NAME = /(?:aws.{0,20}(?:secret|sk)|secret[\s_.-]{0,2}access[\s_.-]{0,2}key).{0,20}(?:[:=>,]|is)["'` ]{0,3}$/i;

function keyAt(text: string, start: number): DetectedSpan | null {
  KEY_ID.lastIndex = start;
  const id = KEY_ID.exec(text)?.[0];
  if (id !== undefined) return looksRandom(id) ? { category: "aws_access_key", start, end: start + id.length, score: 0.95 } : null;
  SECRET.lastIndex = start;
  const secret = SECRET.exec(text)?.[0];
  if (secret === undefined || !SECRET_NAME.test(text.slice(Math.max(0, start - 60), start)) || !looksRandom(secret)) return null;
  return { category: "aws_access_key", start, end: start + secret.length, score: 0.9 };
}

const KEY_ID_START = /(?<![A-Za-z0-9])A(?:KIA|SIA|BIA|CCA|3T[A-Z0-9])[A-Z0-9]/g;
const SECRET_START = /(?<![A-Za-z0-9])(?:A(?:KIA|SIA|BIA|CCA|3T[A-Z0-9])[A-Z0-9]|(?<=[:=>,"'` ])[A-Za-z0-9/+]{40})/g;
const NAMES_SECRET = /aws|secret[\s_.-]{0,2}access/i;

/** Access key ids of Amazon Web Services, and the secret key beside a name that says so. */
export const awsAccessKey: Detector = {
  check: "secrets",
  maxLength: 40,
  find: (text, from, to) => scan(text, NAMES_SECRET.test(text) ? SECRET_START : KEY_ID_START, from, to, (at) => keyAt(text, at)),
  openFrom: openTokenFrom,
};
