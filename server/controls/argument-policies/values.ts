import { isRawJson } from "../../kernel/text/exact-numbers.ts";
import { type Analyzer, type AnalyzerResult, NOTHING_TO_PREPARE, unreadable } from "./analyzer.ts";

/**
 * Lists of values. A denied value is found in any spelling (case, width, surrounding space); an allowed one must match
 * exactly. Numbers, booleans and null are compared as JSON, integers with all their digits.
 */
export const valuesAnalyzer: Analyzer = {
  prepare: NOTHING_TO_PREPARE,
  inspect(value) {
    if (isRawJson(value)) return inspectedDigits(JSON.stringify(value));
    if (typeof value === "object" && value !== null) return unreadable("The argument is not a single value.");
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return {
      unparseable: null,
      holds: (denyIf, values) => (denyIf === "in" ? foldedSet(values).has(folded(text)) : denyIf === "not_in" && !values.includes(text)),
    };
  },
};

/** A number that JavaScript would round. The tool may round it too, so the rounded value is checked against denied ones as well. */
function inspectedDigits(digits: string): AnalyzerResult {
  if (!WHOLE_NUMBER.test(digits)) return unreadable("The number has more digits than can be compared.");
  const rounded = JSON.stringify(Number(digits));
  return {
    unparseable: null,
    holds: (denyIf, values) =>
      denyIf === "in" ? foldedSet(values).has(digits) || foldedSet(values).has(rounded) : denyIf === "not_in" && !values.includes(digits),
  };
}

const WHOLE_NUMBER = /^-?[1-9]\d*$/;

/** Lists of rules, folded once: they are long, and every value is compared with them. */
const foldedLists = new WeakMap<readonly string[], ReadonlySet<string>>();

function foldedSet(values: readonly string[]): ReadonlySet<string> {
  let found = foldedLists.get(values);
  if (found === undefined) foldedLists.set(values, (found = new Set(values.map(folded))));
  return found;
}

function folded(text: string): string {
  return text
    .normalize("NFKC")
    .replace(/[\p{Cf}\p{Cc}]/gu, "")
    .trim()
    .toLowerCase();
}
