import { isDigitAt, isOneOf, isWordAt } from "../text/characters.ts";
import type { Detector, DetectedSpan } from "../text/detector.ts";
import { scanNumbers } from "../text/digit-runs.ts";
import { contextBefore, contextWords, continuesBefore } from "./number-context.ts";
import { openNumberFrom } from "./open-number.ts";
import { hasSsnShape, isAssignableSsn } from "./ssn-numbers.ts";

const SSN_WORDS = contextWords(
  new RegExp(
    String.raw`\bssn\b|\bss ?(?:#|no|number)|social|soc\.? sec|\btax(?:payer)? id|\bitin\b|sozialversicherung|` +
      String.raw`s[\u00e9e]curit[\u00e9e]|seguro social|seguran\u00e7a social|seguridad|sicurezza sociale|previdenza|sofinummer|` +
      String.raw`\bbsn\b|sociale|ubezpiecze|sociaal|sosyal|\u0441\u043e\u0446\u0438\u0430\u043b\u044c\u043d|` +
      String.raw`\u793e\u4f1a\u4fdd\u969c|\u793e\u4fdd|\u793e\u4f1a\u5b89\u5168|\u793e\u6703\u5b89\u5168|` +
      String.raw`\uc0ac\ud68c\ubcf4\uc7a5|\u0938\u093e\u092e\u093e\u091c\u093f\u0915|\u0627\u0644\u0636\u0645\u0627\u0646`,
    "iuy",
  ),
);

/** Parts of identifiers in code and tables: `employeeSsn`, `customer_ssn`, `SSN_NUMBER`, `ssnNo`, but not `className`. */
const SSN_NAMES = contextWords(
  /(?<![A-Za-z])(?:ssn|SSN|Ssn|TIN|ITIN|itin)(?![a-z])|(?<=[a-z0-9])S(?:sn|SN)(?![a-z])|(?:ss|SS|Ss)(?:_?[Nn](?:um|o)|_N(?:UM|O))(?![a-z])|[Ss]oc_?[Ss]ec|[Tt]ax(?:payer)?[_-]?[Ii][Dd](?![a-z])|TAX(?:PAYER)?_ID/y,
);
const PHONE_WORDS = /\b(?:tel|phone|call|fax|mobil\w*|telefon\w*)\b/iu;

function ssnAt(text: string, start: number): DetectedSpan | null {
  const separator = isDigitAt(text, start + 3) ? "" : text.charAt(start + 3);
  // Dashed groups after a comma are the next column of a table, never the rest of a number.
  const dashed = separator === "-";
  if (isWordAt(text, start - 1) || continuesBefore(text, start, dashed ? ".-/" : ".,-/") || isOneOf(text, start - 1, "+$\u20ac\u00a3"))
    return null;
  if (isOneOf(text, start - 1, "-./") && isWordAt(text, start - 2)) return null;
  const end = start + 9 + 2 * separator.length;
  const digits = text.slice(start, end).replace(/\D/g, "");
  if (isWordAt(text, end) || (isOneOf(text, end, dashed ? ".-/" : ".,-/ ") && isDigitAt(text, end + 1)) || !isAssignableSsn(digits))
    return null;
  const context = contextBefore(text, start, SSN_WORDS, { names: SSN_NAMES, mayBeId: dashed });
  if (context === "other" || (context === "none" && text.charAt(start - 1) === "#" && isWordAt(text, start - 2))) return null;
  if (context === "kind") return { category: "ssn", start, end, score: 0.95 };
  if (dashed) return { category: "ssn", start, end, score: 0.8 };
  const spaced = separator === " " && !PHONE_WORDS.test(text.slice(Math.max(0, start - 40), start));
  return { category: "ssn", start, end, score: spaced ? 0.4 : 0.1 };
}

/** US social security numbers; without dashes only near words that say so. */
export const ssn: Detector = {
  check: "pii",
  maxLength: 11,
  find: (text, from, to) => scanNumbers(text, from, to, 0, (start, end) => (hasSsnShape(text, start, end) ? ssnAt(text, start) : null)),
  openFrom: openNumberFrom,
};
