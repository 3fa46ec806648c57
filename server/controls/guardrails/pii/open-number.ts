import { lastWordFrom } from "../text/characters.ts";
import { LEFT } from "../text/detector.ts";

/** The start of a number with separators that may still grow: a digit, plus or bracket without a letter after it. */
const OPEN = /[+(\d][^\p{L}\n]*$/u;

/** The same, if a unit after the number may still qualify it. */
const OPEN_WITH_UNIT = /[+(\d][^\p{L}\n]*[^]{0,6}$/u;

/** Offset of the number at the end of `text` that more text could continue; shared by detectors of numbers. */
export function openNumberFrom(text: string): number {
  return openFrom(text, OPEN);
}

/** As `openNumberFrom`, for numbers that depend on the six characters after them. */
export function openQuantityFrom(text: string): number {
  return openFrom(text, OPEN_WITH_UNIT);
}

function openFrom(text: string, open: RegExp): number {
  const base = Math.max(0, text.length - LEFT - 16);
  const end = text.slice(base);
  const number = open.exec(end)?.index ?? end.length;
  return Math.min(base + number, lastWordFrom(text, base));
}
