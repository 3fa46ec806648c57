import { lastWordFrom } from "../text/characters.ts";
import { LEFT } from "../text/detector.ts";

/** What a number with separators may still grow from: a digit, plus or bracket with no letter behind it. */
const OPEN = /[+(\d][^\p{L}\n]*$/u;

/** The same when the unit behind a number says what it is. */
const OPEN_WITH_UNIT = /[+(\d][^\p{L}\n]*[^]{0,6}$/u;

/** Where at the end of `text` a number that more text could continue starts; shared by what is made of digits. */
export function openNumberFrom(text: string): number {
  return openFrom(text, OPEN);
}

/** As `openNumberFrom`, for a number that the six characters behind it can still change. */
export function openQuantityFrom(text: string): number {
  return openFrom(text, OPEN_WITH_UNIT);
}

function openFrom(text: string, open: RegExp): number {
  const base = Math.max(0, text.length - LEFT - 16);
  const end = text.slice(base);
  const number = open.exec(end)?.index ?? end.length;
  return Math.min(base + number, lastWordFrom(text, base));
}
