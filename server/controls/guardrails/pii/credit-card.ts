import { isDigit, isDigitAt, isOneOf, isWordAt } from "../text/characters.ts";
import type { Detector, DetectedSpan } from "../text/detector.ts";
import { scanNumbers } from "../text/digit-runs.ts";
import { isMonotonous, passesLuhn } from "./identifiers/check-digits.ts";
import { contextBefore, contextWords, continuesBefore } from "./number-context.ts";
import { openNumberFrom } from "./open-number.ts";

const CARD_WORDS = contextWords(
  new RegExp(
    String.raw`card|credit|debit|charge|\b(?:pay|paid|payment|billing)\b|(?<![a-z])cc[_ -]?n|visa|master|amex|american express|discover|diners|maestro|jcb|unionpay|\bpan\b|\bcc\b|karte|kredit|carte|` +
      String.raw`cb\b|tarjeta|cart[a\u00e3]o?|carta|kaart|kort|kart[aey\u0131i]?|kortti|\u043a\u0430\u0440\u0442|` +
      String.raw`\u30ab\u30fc\u30c9|\u5361|\uce74\ub4dc|\u0915\u093e\u0930\u094d\u0921|\u0628\u0637\u0627\u0642`,
    "iuy",
  ),
);

/** A number in one group, or in the groups that cards are printed and typed in; longest first. */
const SHAPES = [
  /\d{4}(?:[ .-]?\d{4}){3}[ .-]?\d{1,3}(?!\d)/y,
  /\d{4}(?:[ .-]?\d{4}){3}(?!\d)/y,
  /\d{4}[ .-]?\d{6}[ .-]?\d{4,5}(?!\d)/y,
  /(?<!\d[ .-])\d{4}([ .-])\d{4}\1\d{4}(?:\1\d{1,3})?(?!\d|\1\d)/y,
  /\d{6}[ .-]\d{10,13}(?!\d)/y,
  /\d{12,19}(?!\d)/y,
];

interface Issuer {
  readonly prefix: RegExp;
  readonly lengths: readonly number[];
  readonly score: number;
}

/** Issuer ranges, of which the first match counts; a low score needs a card-related word near the number. */
const ISSUERS: readonly Issuer[] = [
  { prefix: /^4/, lengths: [16, 19], score: 0.9 },
  { prefix: /^4/, lengths: [13], score: 0.45 },
  { prefix: /^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, lengths: [16], score: 0.9 },
  { prefix: /^3[47]/, lengths: [15], score: 0.9 },
  { prefix: /^(?:6011|64[4-9]|65)/, lengths: [16, 19], score: 0.9 },
  { prefix: /^(?:30[0-5]|3095|3[689])/, lengths: [14, 16], score: 0.7 },
  { prefix: /^(?:30[0-5]|3095|3[689])/, lengths: [15, 17, 18, 19], score: 0.45 },
  { prefix: /^35(?:2[89]|[3-8])/, lengths: [16, 19], score: 0.9 },
  { prefix: /^(?:2131|1800)/, lengths: [15], score: 0.8 },
  { prefix: /^62/, lengths: [16, 17, 18, 19], score: 0.8 },
  { prefix: /^220[0-4]/, lengths: [16, 19], score: 0.8 },
  { prefix: /^(?:60|8[12]|508|50(?:4175|67|9)|636[23])/, lengths: [16], score: 0.6 },
  { prefix: /^(?:50|5[6-8]|6)/, lengths: [12, 13, 14, 15, 16, 17, 18, 19], score: 0.45 },
];

/** No issuer uses fewer. */
const MIN_DIGITS = 12;

/** Whether the run of digits [start, end) is, or begins, as many digits as the shortest card number. */
function isLong(text: string, start: number, end: number): boolean {
  let digits = end - start;
  if (digits < 4) return false;
  for (let at = end; digits < MIN_DIGITS; at++) {
    if (isDigit(text.charCodeAt(at))) digits++;
    else if (!isOneOf(text, at, " .-") || !isDigitAt(text, at + 1)) return false;
  }
  return true;
}

/** The fraction of an integer that a program wrote as a floating-point number. */
const NO_FRACTION = /\.00?(?!\d|[./-]\d)/y;

/** After a card number there may be its expiry date or the next column of a table; after an ungrouped one, an empty fraction. */
function isColumnEnd(text: string, end: number, written: string): boolean {
  if (text.startsWith("/", end) || (text.startsWith(",", end) && written.length > 12)) return true;
  NO_FRACTION.lastIndex = end;
  return /^\d+$/.test(written) && NO_FRACTION.test(text);
}

function cardAt(text: string, start: number): DetectedSpan | null {
  if (isWordAt(text, start - 1) || continuesBefore(text, start, ".-/")) return null;
  if (isOneOf(text, start - 1, "#-.") && isWordAt(text, start - 2)) return null;
  for (const shape of SHAPES) {
    shape.lastIndex = start;
    const written = shape.exec(text)?.[0];
    const card = written === undefined ? null : cardOf(text, start, written);
    if (card !== null) return card;
  }
  return null;
}

function cardOf(text: string, start: number, written: string): DetectedSpan | null {
  const end = start + written.length;
  if (isWordAt(text, end) || (isOneOf(text, end, ".,-/") && isDigitAt(text, end + 1) && !isColumnEnd(text, end, written))) return null;
  const digits = written.replace(/\D/g, "");
  if (!passesLuhn(digits) || isMonotonous(digits)) return null;
  const issuer = ISSUERS.find(({ prefix, lengths }) => prefix.test(digits) && lengths.includes(digits.length));
  if (issuer === undefined) return null;
  const context = contextBefore(text, start, CARD_WORDS);
  const score = issuer.score + (context === "kind" ? 0.1 : context === "other" ? -0.5 : 0);
  return { category: "credit_card", start, end, score };
}

/** Payment card numbers: an issuer range with one of its lengths, a valid Luhn checksum, and no sign that it is another kind of number. */
export const creditCard: Detector = {
  check: "pii",
  maxLength: 23,
  find: (text, from, to) => scanNumbers(text, from, to, 0, (start, end) => (isLong(text, start, end) ? cardAt(text, start) : null)),
  openFrom: openNumberFrom,
};
