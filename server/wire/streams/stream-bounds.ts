const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const LF = 10;
const CR = 13;
const BACKSLASH = 92;
const OPEN_BRACKET = 91;
const OPEN_BRACE = 123;
const CLOSE_BRACKET = 93;
const CLOSE_BRACE = 125;

const ENDS_OF_TEXT = [QUOTE, BACKSLASH, LF, CR] as const;

/** What an upstream sends would cost everybody too much: its bytes, or what would have to be made of them. */
export class FrameTooLarge extends Error {}

/** Values and lines of one frame. To read so many takes some 30 ms, in which nobody else has a turn; no answer of a model has as many. */
const MAX_VALUES = 256 * 1024;
const MAX_LEVELS = 1024;
/** A text that is longer is not looked at byte by byte. */
const LONG_TEXT = 1_024;
/** What is smaller takes no time, whatever it holds. */
const LEAST_BYTES = 16 * 1024;

/** Throws where reading the frame would keep others waiting. */
export function refuseCostlyFrame(frame: Uint8Array): void {
  if (frame.byteLength <= LEAST_BYTES) return;
  let values = 0;
  let levels = 0;
  let inString = false;
  let text = 0;
  for (let at = 0; at < frame.length; at++) {
    const c = frame[at] as number;
    // No text in JSON goes over the end of a line.
    if (c === LF || c === CR) {
      inString = false;
      values++;
    } else if (inString) {
      if (c === BACKSLASH) {
        at++;
        text = 0;
      } else if (c === QUOTE) inString = false;
      else if (++text === LONG_TEXT) {
        at = endOfPlain(frame, at + 1) - 1;
        text = 0;
      }
    } else if (c === QUOTE) {
      inString = true;
      text = 0;
    } else if (c === COMMA || c === COLON) values++;
    else if (c === OPEN_BRACKET || c === OPEN_BRACE) {
      values++;
      if (++levels > MAX_LEVELS) throw new FrameTooLarge(`a frame of the stream is nested more than ${MAX_LEVELS} levels deep`);
    } else if (c === CLOSE_BRACKET || c === CLOSE_BRACE) levels--;
    if (values > MAX_VALUES) throw new FrameTooLarge(`a frame of the stream has more than ${MAX_VALUES} values`);
  }
}

/** Where the next byte stands, from `start` on, that ends a text or may: found natively, because a picture is one text of megabytes. */
function endOfPlain(frame: Uint8Array, start: number): number {
  // No further than twice as far as it goes: else looking for what is not there would take the whole frame each time.
  for (let from = start, most = LONG_TEXT; from < frame.length; from += most, most *= 2) {
    const window = frame.subarray(from, from + most);
    let end = window.length;
    for (const byte of ENDS_OF_TEXT) {
      const found = window.subarray(0, end).indexOf(byte);
      if (found >= 0) end = found;
    }
    if (end < window.length) return from + end;
  }
  return frame.length;
}

/** More than any answer has; each costs the room of what is known of it while the others come. */
const MAX_PARTS = 64 * 1024;

/** Throws where an answer is made of too many choices, calls or other parts to keep them in mind. */
export function refuseTooManyParts(count: number): void {
  if (count > MAX_PARTS) throw new FrameTooLarge(`the answer has more than ${MAX_PARTS} parts`);
}
