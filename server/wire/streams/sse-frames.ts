import { concat } from "./adjoining-bytes.ts";
import { refuseCostlyFrame } from "./stream-bounds.ts";
import { HeldBytes } from "./held-bytes.ts";

const LF = 10;
const CR = 13;
const COLON = 58;
const SPACE = 32;
const DATA = new TextEncoder().encode("data:");

/**
 * Splits an SSE stream into whole frames without changing a byte. A frame ends after its blank line, written with LF, CRLF
 * or CR. A run of blank lines and comments carries no data and becomes a single frame.
 */
export class FrameCutter {
  private readonly held: HeldBytes;

  /** `most` is the maximum size of one frame in bytes. */
  constructor(most?: number) {
    this.held = new HeldBytes(most);
  }

  /** Whether everything pushed so far was whole frames. */
  get isEmpty(): boolean {
    return this.held.length === 0;
  }

  /** The whole frames, each with its closing blank line; the remainder is held for the next piece. Throws `FrameTooLarge`. */
  push(piece: Uint8Array): Uint8Array[] {
    const frames: Uint8Array[] = [];
    let start = 0;
    if (this.held.length > 0) {
      start = this.endOfHeld(piece);
      if (start < 0) {
        this.held.add(piece);
        return frames;
      }
      this.held.add(piece.subarray(0, start));
      const frame = this.held.take();
      refuseCostlyFrame(frame);
      frames.push(frame);
    }
    const endOf = piece.indexOf(CR) < 0 ? endAtLineFeeds(piece) : endAtAnyBreak;
    while (start < piece.length) {
      const silent = endOfSilence(piece, start);
      const end = silent > start ? silent : endOf(piece, start);
      if (end < 0) break;
      const frame = piece.subarray(start, end);
      refuseCostlyFrame(frame);
      frames.push(frame);
      start = end;
    }
    if (start < piece.length) this.held.add(piece.subarray(start));
    return frames;
  }

  /** The bytes after the last blank line: a frame only if the sender omitted the final blank line. */
  rest(): Uint8Array {
    return this.held.view();
  }

  /**
   * The offset in the piece at which the held frame ends, or negative if it continues. Its blank line may have started
   * before the piece.
   */
  private endOfHeld(piece: Uint8Array): number {
    const held = this.held.view();
    let breaks = held.length;
    while (breaks > 0 && isBreak(held[breaks - 1])) breaks--;
    if (breaks === held.length) return endIn(piece);
    const begun = held.subarray(breaks);
    const end = endIn(concat([begun, piece]));
    return end < 0 ? end : end - begun.length;
  }
}

const BLANK_LINE = "\n\n";

function endIn(bytes: Uint8Array): number {
  return bytes.indexOf(CR) < 0 ? endAtLineFeeds(bytes)(bytes, 0) : endAtAnyBreak(bytes, 0);
}

/** Fast path for the most common line ending, using native search. */
function endAtLineFeeds(bytes: Uint8Array): (bytes: Uint8Array, start: number) => number {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return (_, start) => {
    const at = view.indexOf(BLANK_LINE, start);
    return at < 0 ? at : at + BLANK_LINE.length;
  };
}

function endAtAnyBreak(bytes: Uint8Array, start: number): number {
  let i = start;
  while (i < bytes.length) {
    const c = bytes[i] as number;
    if (c !== LF && c !== CR) {
      i++;
      continue;
    }
    // A CR at the very end may be the first half of a CRLF.
    if (c === CR && i + 1 === bytes.length) return -1;
    const next = c === CR && bytes[i + 1] === LF ? i + 2 : i + 1;
    if (next >= bytes.length) return -1;
    const d = bytes[next] as number;
    if (d === LF || d === CR) {
      // Unless the previous line ended with a lone CR: then no LF follows, and a sender that awaits an answer sends nothing more.
      const aloneBefore = c === CR && next === i + 1;
      if (d === CR && next + 1 === bytes.length && !aloneBefore) return -1;
      return d === CR && bytes[next + 1] === LF ? next + 2 : next + 1;
    }
    i = next;
  }
  return -1;
}

/** The offset after the blank lines, comments and empty events at the start of a frame, as far as they are complete. */
function endOfSilence(bytes: Uint8Array, start: number): number {
  let end = start;
  for (;;) {
    while (end < bytes.length && isBreak(bytes[end])) end++;
    let at = end;
    if (bytes[end] === COLON) while (at < bytes.length && !isBreak(bytes[at])) at++;
    else at = behindEmptyData(bytes, end);
    // A comment within an event belongs to the event. Other line endings than LF are left to the slow path.
    if (at === end || bytes[at] !== LF || bytes[at + 1] !== LF) return end;
    end = at + 2;
  }
}

function behindEmptyData(bytes: Uint8Array, start: number): number {
  for (let i = 0; i < DATA.length; i++) if (bytes[start + i] !== DATA[i]) return start;
  const end = start + DATA.length;
  return bytes[end] === SPACE ? end + 1 : end;
}

function isBreak(byte: number | undefined): boolean {
  return byte === LF || byte === CR;
}
