import { type Detector, type DetectedSpan, type ValueTail, WINDOW } from "../detector.ts";
import { isTagOfAscii, TAGS_HALF } from "../folded-text.ts";

const TAG_LENGTH = 2;
/** Fewer tags say nothing. */
const LEAST = 6;
/** The flag of a region is a black flag with its code in tags, of six characters at most. */
const FLAG = "\u{1F3F4}";
const LEAST_BEHIND_FLAG = 7;

/** Where the tags at `at` end. */
function tagsEnd(text: string, at: number): number {
  let end = at;
  while (isTagOfAscii(text, end)) end += TAG_LENGTH;
  return end;
}

const leastAt = (text: string, start: number) =>
  TAG_LENGTH * (text.slice(Math.max(0, start - FLAG.length), start) === FLAG ? LEAST_BEHIND_FLAG : LEAST);

const tail = (): ValueTail => ({
  take(text, from, final) {
    const end = tagsEnd(text, from);
    return { end, open: !final && mayGoOn(text, end) };
  },
});

/** Whether the next character may be a tag: nothing is known of it yet, or half of it. */
const mayGoOn = (text: string, end: number) => end === text.length || (end === text.length - 1 && text[end] === TAGS_HALF);

/** Text in tag characters, which nobody sees and models read: whatever it says, it was not written for people. */
export const hiddenText: Detector = {
  check: "prompt_injection",
  maxLength: WINDOW - 1,
  readsUnfolded: true,
  find(text, from, to, final) {
    const found: DetectedSpan[] = [];
    for (let at = text.indexOf(TAGS_HALF, from); at >= 0 && at < to;) {
      const end = tagsEnd(text, at);
      const isStart = end > at && !isTagOfAscii(text, at - TAG_LENGTH);
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
    while (isTagOfAscii(text, start - TAG_LENGTH)) start -= TAG_LENGTH;
    // Behind a flag's first half nothing is decided either, but a flag is no tag: what begins is only ever a tag.
    return start < text.length && text.length - start >= leastAt(text, start) ? text.length : start;
  },
};
