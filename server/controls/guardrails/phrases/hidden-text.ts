import { type Detector, type DetectedSpan, type ValueTail, WINDOW } from "../text/detector.ts";
import { isTagOfAscii, TAGS_HALF } from "../text/folded-text.ts";

const HIDDEN_LENGTH = 2;
/** Fewer say nothing. */
const LEAST = 6;
/** The flag of a region is a black flag with its code in tags, of six characters at most. */
const FLAG = "\u{1F3F4}";
const LEAST_BEHIND_FLAG = 7;

/**
 * Whether at `at` stands a tag that mirrors a character of ASCII, or one of the 240 variation selectors that bytes are written in behind
 * some emoji. Of those no more than one stands behind a character in any writing. Both begin with the same half.
 */
function isHidden(text: string, at: number): boolean {
  const low = text.charCodeAt(at + 1);
  return isTagOfAscii(text, at) || (text[at] === TAGS_HALF && low >= 0xdd00 && low <= 0xddef);
}

/** Where what is hidden at `at` ends. */
function hiddenEnd(text: string, at: number): number {
  let end = at;
  while (isHidden(text, end)) end += HIDDEN_LENGTH;
  return end;
}

const leastAt = (text: string, start: number) =>
  HIDDEN_LENGTH * (text.slice(Math.max(0, start - FLAG.length), start) === FLAG ? LEAST_BEHIND_FLAG : LEAST);

const tail = (): ValueTail => ({
  take(text, from, final) {
    const end = hiddenEnd(text, from);
    return { end, open: !final && mayGoOn(text, end) };
  },
});

/** Whether the next character may be hidden too: nothing is known of it yet, or half of it. */
const mayGoOn = (text: string, end: number) => end === text.length || (end === text.length - 1 && text[end] === TAGS_HALF);

/** Text in tag characters or variation selectors, which nobody sees and models read: whatever it says, it was not written for people. */
export const hiddenText: Detector = {
  check: "prompt_injection",
  maxLength: WINDOW - 1,
  reads: "as it is",
  find(text, from, to, final) {
    const found: DetectedSpan[] = [];
    for (let at = text.indexOf(TAGS_HALF, from); at >= 0 && at < to;) {
      const end = hiddenEnd(text, at);
      const isStart = end > at && !isHidden(text, at - HIDDEN_LENGTH);
      if (isStart && end - at >= leastAt(text, at)) {
        const isOpen = !final && mayGoOn(text, end);
        const span = { category: "invisible", start: at, end, score: 0.9 };
        found.push(isOpen ? { ...span, tail: tail() } : span);
      }
      at = text.indexOf(TAGS_HALF, Math.max(end, at + 1));
    }
    return found;
  },
  openFrom(text) {
    const last = text.length - 1;
    let start = text[last] === TAGS_HALF ? last : text.length;
    while (isHidden(text, start - HIDDEN_LENGTH)) start -= HIDDEN_LENGTH;
    // Behind a flag's first half nothing is decided either, but a flag is not hidden: what begins only ever is.
    return start < text.length && text.length - start >= leastAt(text, start) ? text.length : start;
  },
};
