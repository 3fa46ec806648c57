import { type Detector, type DetectedSpan, type ValueTail, WINDOW } from "../text/detector.ts";
import { isTagOfAscii, TAGS_HALF } from "../text/folded-text.ts";

const HIDDEN_LENGTH = 2;
/** Fewer hidden characters carry no message. */
const MIN = 6;
/** A regional flag is a black flag followed by its code in at most six tag characters. */
const FLAG = "\u{1F3F4}";
const MIN_BEHIND_FLAG = 7;

/**
 * Whether there is, at `at`, a tag character that mirrors ASCII, or one of the 240 variation selectors used to hide bytes
 * after an emoji. Legitimate text has at most one such selector after a character. Both start with the same surrogate.
 */
function isHidden(text: string, at: number): boolean {
  const low = text.charCodeAt(at + 1);
  return isTagOfAscii(text, at) || (text[at] === TAGS_HALF && low >= 0xdd00 && low <= 0xddef);
}

/** End of the hidden characters at `at`. */
function hiddenEnd(text: string, at: number): number {
  let end = at;
  while (isHidden(text, end)) end += HIDDEN_LENGTH;
  return end;
}

const leastAt = (text: string, start: number) =>
  HIDDEN_LENGTH * (text.slice(Math.max(0, start - FLAG.length), start) === FLAG ? MIN_BEHIND_FLAG : MIN);

const tail = (): ValueTail => ({
  take(text, from, final) {
    const end = hiddenEnd(text, from);
    return { end, open: !final && mayGoOn(text, end) };
  },
});

/** Whether the next character may be hidden too, because it has not arrived or only half of it has. */
const mayGoOn = (text: string, end: number) => end === text.length || (end === text.length - 1 && text[end] === TAGS_HALF);

/** Text in tag characters or variation selectors: invisible to people but read by models, so not meant for people whatever it says. */
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
    // A trailing first half of a flag need not be held: the flag itself is not hidden, and a finding starts only after it.
    return start < text.length && text.length - start >= leastAt(text, start) ? text.length : start;
  },
};
