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

/** Thrown if an upstream sends something too expensive to process, by its size or by what parsing it would create. */
export class FrameTooLarge extends Error {}

/** Maximum number of values and lines in one frame. Parsing that many blocks the process for about 30 ms; no model's answer has as many. */
const MAX_VALUES = 256 * 1024;
const MAX_LEVELS = 1024;
/** Bytes. The inside of a longer string is skipped with native search. */
const LONG_TEXT = 1_024;
/** Bytes. Smaller frames are cheap whatever they contain. */
const MIN_BYTES = 16 * 1024;

/** Throws `FrameTooLarge` if parsing the frame would block the process for too long. */
export function refuseCostlyFrame(frame: Uint8Array): void {
  if (frame.byteLength <= MIN_BYTES) return;
  let values = 0;
  let levels = 0;
  let inString = false;
  let text = 0;
  for (let at = 0; at < frame.length; at++) {
    const c = frame[at] as number;
    // JSON strings cannot contain raw line breaks.
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

/** The offset of the next byte from `start` on that may end a string. Uses native search, because an image is one string of megabytes. */
function endOfPlain(frame: Uint8Array, start: number): number {
  // Searches in doubling windows: searching for an absent byte would otherwise scan the whole frame each time.
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

/** More than any real answer has; each part needs memory until the answer is complete. */
const MAX_PARTS = 64 * 1024;

/** Throws `FrameTooLarge` if an answer has too many choices, calls or other parts to keep in memory. */
export function refuseTooManyParts(count: number): void {
  if (count > MAX_PARTS) throw new FrameTooLarge(`the answer has more than ${MAX_PARTS} parts`);
}
