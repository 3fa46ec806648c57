import { isDigit, isLetterAt, lastWordFrom } from "../text/characters.ts";
import { LEFT } from "../text/detector.ts";

const LINE_FEED = 10;
const BRACKET = 40;
const PLUS = 43;
/** Characters after a number that may still qualify it, as a unit does. */
const UNIT = 6;
/** The start of a number with separators that may still grow: a digit, plus or bracket without a letter after it. */
const OPEN = /[+(\d][^\p{L}\n]*$/u;
/** The same, apart from the last characters. */
const OPEN_WITH_UNIT = new RegExp(`[+(\\d][^\\p{L}\\n]*[^]{0,${UNIT}}$`, "u");

/** Offset of the number at the end of `text` that more text could continue; shared by detectors of numbers. */
export function openNumberFrom(text: string): number {
  return openFrom(text, OPEN, 0);
}

/** As `openNumberFrom`, for numbers that depend on the six characters after them. */
export function openQuantityFrom(text: string): number {
  return openFrom(text, OPEN_WITH_UNIT, UNIT);
}

function openFrom(text: string, open: RegExp, unit: number): number {
  const base = Math.max(0, text.length - LEFT - 16);
  let number = openInAscii(text, base, unit);
  if (number === null) {
    const end = text.slice(base);
    number = base + (open.exec(end)?.index ?? end.length);
  }
  return Math.min(number, lastWordFrom(text, base));
}

/** What the expressions find, without them: the first sign of a number after the last letter. Null if other than ASCII is to be read. */
function openInAscii(text: string, base: number, unit: number): number | null {
  let first = text.length;
  for (let at = text.length - 1; at >= base; at--) {
    const code = text.charCodeAt(at);
    if (code > 127) return null;
    if (code === LINE_FEED || isLetterAt(text, at)) {
      if (at < text.length - unit) return first;
    } else if (code === PLUS || code === BRACKET || isDigit(code)) first = at;
  }
  return first;
}
