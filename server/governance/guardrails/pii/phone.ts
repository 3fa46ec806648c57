import { isDigitAt, isOneOf, isWordAt } from "../characters.ts";
import { type Detector, type Found, scan } from "../detector.ts";
import { contextBefore, contextWords, continuesBefore } from "./number-context.ts";
import { openQuantityFrom } from "./open-number.ts";

const PHONE_WORDS = contextWords(
  /phone|telefo|(?<![.\w])calls?(?![\w(])|\b(?:tel|cell|mobile|fax|whatsapp|sms|dial|hotline|landline|voicemail|text|ring|reach|contact|switchboard|callback)\b|telefon|handy|mobil|rufnummer|anruf|rufen|erreich|durchwahl|festnetz|\bruf\b|t[\u00e9e]l[\u00e9e]?\b|portable|appel|joindre|joignable|\bgsm\b|m[\u00f3o]vil|celular|ll[a\u00e1]m|tel[\u00e9e]fono|telem[\u00f3o]vel|ligue|ligar|\bliga\b|contac?t|cellulare|chiam|\bbel\b|bellen|mobiel|puhelin|soita|numero(?:on|ni)|kom[\u00f3o]rk|zadzwo|dzwo\u0144|\bara\b|aray|\bcep\b|\btlf\b|\u0442\u0435\u043b|\u0437\u0432\u043e\u043d|\u043c\u043e\u0431\u0438\u043b|\u96fb\u8a71|\u643a\u5e2f|\u7535\u8bdd|\u96fb\u8a71|\u624b\u6a5f|\u624b\u673a|\u81f4\u7535|\u62e8\u6253|\u8054\u7cfb|\u806f\u7d61|\u9023\u7d61|\uc804\ud654|\ud734\ub300|\uc5f0\ub77d|\u092b\u093c?\u094b\u0928|\u092b\u094b\u0928|\u092e\u094b\u092c\u093e\u0907\u0932|\u0915\u0949\u0932|\u0647\u0627\u062a\u0641|\u062c\u0648\u0627\u0644|\u0627\u062a\u0635\u0644|\u0645\u0648\u0628\u0627\u064a\u0644/iuy,
);

/** The country calling codes in use, as the first digits of an international number. */
const CALLING_CODE = /^(?:1|7|2[07]|2[1-69]\d|3[0-469]|3[578]\d|4[013-9]|42\d|5[1-8]|5[09]\d|6[0-6]|6[7-9]\d|8[1246]|8[058]\d|9[0-58]|9[679]\d)/;

/** The ways numbers are written. Every bound is small, so that none reads beyond the window. */
interface Shape {
  /** The characters it can begin with. */
  readonly starts: string;
  readonly pattern: RegExp;
  readonly digits: readonly [fewest: number, most: number];
  /** Score without a word beside it. */
  readonly score: number;
  /** What else its digits must fulfil. */
  readonly fits?: (digits: string) => boolean;
}

const SHAPES: readonly Shape[] = [
  { starts: "+", pattern: /\+ ?\(?[1-9](?:[ ()./-]{0,3}\d){6,14}(?!\d)/y, digits: [8, 15], score: 0.8, fits: (digits) => CALLING_CODE.test(digits) },
  { starts: "(", pattern: /\(\+[1-9]\d{0,2}\)(?:[ ()./-]{0,3}\d){6,13}(?!\d)/y, digits: [8, 15], score: 0.8, fits: (digits) => CALLING_CODE.test(digits) },
  { starts: "0", pattern: /00[ -]?[1-9]\d{0,2}(?:[ ()./-]{1,3}\d{1,8}){2,5}(?!\d)/y, digits: [10, 17], score: 0.6, fits: (digits) => CALLING_CODE.test(digits.slice(2)) },
  { starts: "1(", pattern: /(?:1[ .-]?)?\([2-9]\d{2}\)[ -]?[2-9]\d{2}[ .-]\d{4}(?!\d)/y, digits: [10, 11], score: 0.8 },
  { starts: "123456789", pattern: /(?:1[.-])?[2-9]\d{2}([.-])[2-9]\d{2}\1\d{4}(?!\d)/y, digits: [10, 11], score: 0.6 },
  { starts: "123456789", pattern: /(?:1 )?[2-9]\d{2} [2-9]\d{2}[ -]\d{4}(?!\d)/y, digits: [10, 11], score: 0.4 },
  { starts: "(", pattern: /\(0\d{1,5}\)[ -]?\d{2,8}(?:[ -]\d{2,5}){0,3}(?!\d)/y, digits: [8, 12], score: 0.6 },
  { starts: "(", pattern: /\([1-9]\d\) ?9?\d{4}[ -]\d{4}(?!\d)/y, digits: [10, 11], score: 0.7 },
  { starts: "0", pattern: /0[1-9](?:[ .-]\d{2}){4}(?!\d)/y, digits: [10, 10], score: 0.6 },
  { starts: "0", pattern: /0\d{3} \d{3} \d{2} \d{2}(?!\d)/y, digits: [11, 11], score: 0.6 },
  { starts: "8", pattern: /8(?:[ -]\(?|\()\d{3}\)?[ -]\d{3}[ -]\d{2}[ -]\d{2}(?!\d)/y, digits: [11, 11], score: 0.6 },
  { starts: "0", pattern: /0\d{1,4}(?:[ -]\d{3,4}){2}(?!\d)/y, digits: [9, 11], score: 0.55 },
  { starts: "0", pattern: /0\d{2,4}(?:[ /-]| \/ )\d{5,8}(?!\d)/y, digits: [9, 12], score: 0.45 },
  { starts: "0", pattern: /0[789]0\d{8}(?!\d)/y, digits: [11, 11], score: 0.5 },
  { starts: "1", pattern: /1[3-9]\d([ -])\d{4}\1\d{4}(?!\d)/y, digits: [11, 11], score: 0.55 },
  { starts: "0", pattern: /0\d{1,5}(?:[ ./-]{1,3}\d{2,8}){1,5}(?!\d)/y, digits: [8, 12], score: 0.3 },
  { starts: "(", pattern: /\(\d{2,4}\) ?\d{2,4}(?:[ -]\d{2,4}){1,3}(?!\d)/y, digits: [7, 12], score: 0.3 },
  { starts: "0123456789", pattern: /\d{2,5}(?:[ .-]\d{2,8}){1,4}(?!\d)/y, digits: [7, 12], score: 0.25 },
  { starts: "0123456789", pattern: /\d{7,12}(?!\d)/y, digits: [7, 12], score: 0.2 },
];

const BY_START = new Map([..."+(0123456789"].map((sign) => [sign, SHAPES.filter(({ starts }) => starts.includes(sign))]));
/** A number has seven digits at least. */
const SEVEN_DIGITS = /(?:[ ()./+-]{0,3}\d){7}/y;

/** Dates, times behind dates, network addresses, ISBNs and social security numbers are written with the same signs. */
const NOT_A_PHONE = [
  /^(?:19|20)\d\d[ ./-](?:0?[1-9]|1[0-2])[ ./-](?:0?[1-9]|[12]\d|3[01])(?!\d)/,
  /^(?:0?[1-9]|[12]\d|3[01])[./-](?:0?[1-9]|[12]\d|3[01])[./-](?:19|20)?\d\d(?![\d./-])/,
  /^\d{1,3}(?:\.\d{1,3}){3}$/,
  /^97[89][ -]?\d/,
  /^\d{3}-\d{2}-\d{4}$/,
  /^(\d)(?:[ ()./-]*\1)+$/,
  /^(?:19|20)\d\d ?- ?(?:19|20)\d\d/,
];

/** Money, percentages and units behind a number: it counts something. */
const QUANTITY_BEHIND = /^ ?(?:%|\u20ac|\$|\u00a3|\u00a5|USD|EUR|GBP|kg|km|ms|[KMGT]i?B|bytes|px|rows)/;

function phoneAt(text: string, start: number): Found | null {
  const plus = text.charAt(start) === "+" || text.startsWith("(+", start);
  if (isWordAt(text, start - 1) || continuesBefore(text, start, plus ? "" : ".,-/:")) return null;
  if (isOneOf(text, start - 1, "$\u20ac\u00a3\u00a5#@%.-/\\") && !(plus && isOneOf(text, start - 1, "-/"))) {
    if (isOneOf(text, start - 1, "$\u20ac\u00a3\u00a5#@%") || isWordAt(text, start - 2)) return null;
  }
  SEVEN_DIGITS.lastIndex = start;
  if (!SEVEN_DIGITS.test(text)) return null;
  // Behind another number it is more likely the next part of that.
  const continues = !plus && continuesBefore(text, start, " ") ? 0.2 : 0;
  let context: ReturnType<typeof contextBefore> | undefined;
  let best: Found | null = null;
  for (const { pattern, digits: [fewest, most], score, fits } of BY_START.get(text.charAt(start)) ?? []) {
    pattern.lastIndex = start;
    const match = pattern.exec(text)?.[0];
    if (match === undefined) continue;
    const end = start + match.length;
    const digits = match.replace(/\D/g, "");
    if (digits.length < fewest || digits.length > most || (best !== null && end <= best.end)) continue;
    if (isWordAt(text, end) || (isOneOf(text, end, ".,-/:") && isDigitAt(text, end + 1)) || QUANTITY_BEHIND.test(text.slice(end, end + 6))) continue;
    if ((fits !== undefined && !fits(digits)) || NOT_A_PHONE.some((other) => other.test(match))) continue;
    context ??= contextBefore(text, start, PHONE_WORDS);
    const sure = score - continues + (context === "kind" ? 0.35 : context === "other" ? -0.5 : 0);
    if (sure >= 0.5) best = { category: "phone", start, end, score: Math.min(sure, 0.95) };
  }
  return best;
}

/** Telephone numbers as people write them: international, with the trunk digit, and local ones beside a word of telephony. */
export const phone: Detector = {
  check: "pii",
  maxLength: 72,
  find: (text, from, to) => scan(text, /(?:\(\+?|\+ ?\(?|(?<![\d+(]))\d(?=[\d ()./-]{6})/g, from, to, (at) => phoneAt(text, at)),
  openFrom: openQuantityFrom,
};
