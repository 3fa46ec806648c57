import { isDigit, isDigitAt, isOneOf, isWordAt } from "../text/characters.ts";
import type { Detector, DetectedSpan } from "../text/detector.ts";
import { scanNumbers } from "../text/digit-runs.ts";
import { contextBefore, contextWords, continuesBefore, hasWordBefore } from "./number-context.ts";
import { openQuantityFrom } from "./open-number.ts";
import { PHONE_SHAPES, type PhoneShape } from "./phone-shapes.ts";
import { numberContinues, hasSevenDigits, leadsAt, MAX_LEADING } from "./phone-signs.ts";

const PHONE_WORDS = contextWords(
  new RegExp(
    String.raw`phone|telefo|(?<![.\w])calls?(?![\w(])|\bmy (?:\w{1,8} )?number\b|\b(?:tel|cell|mobile|fax|whatsapp|sms|dial|hotline|landline|voicemail|` +
      String.raw`text|ring|reach|contact|switchboard|callback)\b|telefon|handy|mobil|rufnummer|anruf|rufen|erreich|durchwahl|` +
      String.raw`festnetz|\bruf\b|t[\u00e9e]l[\u00e9e]?\b|portable|appel|joindre|joignable|\bgsm\b|m[\u00f3o]vil|celular|` +
      String.raw`ll[a\u00e1]m|tel[\u00e9e]fono|telem[\u00f3o]vel|ligue|ligar|\bliga\b|contac?t|cellulare|chiam|\bbel\b|bellen|` +
      String.raw`mobiel|puhelin|soita|numero(?:on|ni)|kom[\u00f3o]rk|zadzwo|dzwo\u0144|\bara\b|aray|\bcep\b|\btlf\b|` +
      String.raw`\u0442\u0435\u043b|\u0437\u0432\u043e\u043d|\u043c\u043e\u0431\u0438\u043b|\u96fb\u8a71|\u643a\u5e2f|` +
      String.raw`\u7535\u8bdd|\u96fb\u8a71|\u624b\u6a5f|\u624b\u673a|\u81f4\u7535|\u62e8\u6253|\u8054\u7cfb|\u806f\u7d61|` +
      String.raw`\u9023\u7d61|\uc804\ud654|\ud734\ub300|\uc5f0\ub77d|\u092b\u093c?\u094b\u0928|\u092b\u094b\u0928|` +
      String.raw`\u092e\u094b\u092c\u093e\u0907\u0932|\u0915\u0949\u0932|\u0647\u0627\u062a\u0641|\u062c\u0648\u0627\u0644|` +
      String.raw`\u0627\u062a\u0635\u0644|\u0645\u0648\u0628\u0627\u064a\u0644`,
    "iuy",
  ),
);

/** The most consecutive digits at the start of a shape; no phone number has more. */
const MAX_TOGETHER = 12;
/** How much a telephony word nearby adds to the score. */
const WORD_SCORE = 0.35;
const SURE = 0.5;

/** Shapes by first character and, if that is a digit, by the number of consecutive digits. */
const BY_START = new Map(
  [..."+(0123456789"].map((sign) => {
    const shapes = PHONE_SHAPES.filter(({ starts }) => starts.includes(sign));
    const fitting = (count: number) => shapes.filter(({ together: [fewest, most] = [0, 0] }) => count >= fewest && count <= most);
    return [
      sign.charCodeAt(0),
      sign === "+" || sign === "(" ? [shapes] : Array.from({ length: MAX_TOGETHER + 1 }, (_, count) => fitting(count)),
    ] as const;
  }),
);
const NO_SHAPES: readonly PhoneShape[] = [];

function shapesAt(text: string, start: number, together: number): readonly PhoneShape[] {
  const code = text.charCodeAt(start);
  return BY_START.get(code)?.[isDigit(code) ? together : 0] ?? NO_SHAPES;
}

/** Dates, times after dates, network addresses, ISBNs and social security numbers use the same characters. */
const NOT_A_PHONE = [
  /^(?:19|20)\d\d[ ./-](?:0?[1-9]|1[0-2])[ ./-](?:0?[1-9]|[12]\d|3[01])(?!\d)/,
  /^(?:0?[1-9]|[12]\d|3[01])[./-](?:0?[1-9]|[12]\d|3[01])[./-](?:19|20)?\d\d(?![\d./-])/,
  /^\d{1,3}(?:\.\d{1,3}){3}$/,
  /^97[89][ -]?\d/,
  /^\d{3}-\d{2}-\d{4}$/,
  /^(\d)(?:[ ()./-]*\1)+$/,
  /^(?:19|20)\d\d ?- ?(?:19|20)\d\d/,
];

/** Money, percentages and units after a number show that it is a quantity. */
const QUANTITY_BEHIND = /^ ?(?:%|\u20ac|\$|\u00a3|\u00a5|USD|EUR|GBP|kg|km|ms|[KMGT]i?B|bytes|px|rows)/;

/** The phone number at `start`, which begins with `together` consecutive digits. */
function phoneAt(text: string, start: number, together: number): DetectedSpan | null {
  const shapes = shapesAt(text, start, together);
  if (shapes.length === 0) return null;
  const plus = text.charAt(start) === "+" || text.startsWith("(+", start);
  if (isWordAt(text, start - 1) || continuesBefore(text, start, plus ? "" : ".,-/:")) return null;
  if (isOneOf(text, start - 1, "$\u20ac\u00a3\u00a5#@%.-/\\") && !(plus && isOneOf(text, start - 1, "-/"))) {
    if (isOneOf(text, start - 1, "$\u20ac\u00a3\u00a5#@%") || isWordAt(text, start - 2)) return null;
  }
  if (!hasSevenDigits(text, start)) return null;
  // After another number it is more likely to be the next part of that one.
  const continues = !plus && continuesBefore(text, start, " ") ? 0.2 : 0;
  let hasWord: boolean | undefined;
  let context: ReturnType<typeof contextBefore> | undefined;
  let best: DetectedSpan | null = null;
  for (const {
    pattern,
    digits: [fewest, most],
    score,
    fits,
  } of shapes) {
    const alone = score - continues;
    if (alone + WORD_SCORE < SURE) continue;
    pattern.lastIndex = start;
    const match = pattern.exec(text)?.[0];
    if (match === undefined) continue;
    const end = start + match.length;
    const digits = match.replace(/\D/g, "");
    if (digits.length < fewest || digits.length > most || (best !== null && end <= best.end)) continue;
    if (isWordAt(text, end) || (isOneOf(text, end, ".,-/:") && isDigitAt(text, end + 1))) continue;
    if (alone < SURE && !(hasWord ??= hasWordBefore(text, start, PHONE_WORDS))) continue;
    if (QUANTITY_BEHIND.test(text.slice(end, end + 6))) continue;
    if ((fits !== undefined && !fits(digits)) || NOT_A_PHONE.some((other) => other.test(match))) continue;
    context ??= contextBefore(text, start, PHONE_WORDS);
    const sure = alone + (context === "kind" ? WORD_SCORE : context === "other" ? -0.5 : 0);
    if (sure >= SURE) best = { category: "phone", start, end, score: Math.min(sure, 0.95) };
  }
  return best;
}

function phoneAround(text: string, digits: number, end: number, cursor: number, to: number): DetectedSpan | null {
  if (!numberContinues(text, digits)) return null;
  for (const lead of leadsAt(text, digits)) {
    const start = digits - lead;
    const phone = start < cursor || start >= to ? null : phoneAt(text, start, end - digits);
    if (phone !== null) return phone;
  }
  return null;
}

/** Phone numbers as people write them: international, with a trunk prefix, and local ones near a telephony word. */
export const phone: Detector = {
  check: "pii",
  maxLength: 72,
  find: (text, from, to) => scanNumbers(text, from, to, MAX_LEADING, (start, end, cursor) => phoneAround(text, start, end, cursor, to)),
  openFrom: openQuantityFrom,
};
