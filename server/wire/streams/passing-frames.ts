import { concat } from "./adjoining-bytes.ts";
import { FrameCutter } from "./sse-frames.ts";
import type { StreamPiece } from "./stream.ts";

export interface FrameReader {
  /** Matches what makes a frame worth reading. A word inside a text is not taken for a member, because its quotes are escaped there. */
  readonly telling: RegExp;
  /** Whether frames may pass unread just now. */
  passes(): boolean;
  /** Takes note of whole frames without anything telling, as Latin-1 text of their bytes. False when they must be read after all. */
  note(text: string): boolean;
  /** Reads a frame, and says whether it passes. */
  keep(frame: Uint8Array): boolean;
}

const BLANK_LINE = "\n\n";
const BACKSLASH = 92;

/**
 * Events on their way through, byte for byte. The whole frames a piece begins with, up to the first that holds something
 * to act on, pass unread: that is nearly all of a stream, at a fraction of what parsing it costs.
 */
export class PassingFrames {
  private readonly cutter = new FrameCutter();
  private readonly reader: FrameReader;

  constructor(reader: FrameReader) {
    this.reader = reader;
  }

  push(piece: Uint8Array): StreamPiece {
    const kept: Uint8Array[] = [];
    let at = 0;
    if (!this.cutter.isEmpty) {
      at = behindBlankLine(piece);
      this.read(piece.subarray(0, at), kept);
    }
    if (this.cutter.isEmpty && this.reader.passes()) {
      const unread = this.unread(at === 0 ? piece : piece.subarray(at));
      if (unread === piece.byteLength) return piece;
      if (unread > 0) kept.push(piece.subarray(at, at + unread));
      at += unread;
    }
    this.read(piece.subarray(at), kept);
    return kept.length === 0 ? null : concat(kept);
  }

  /** What came behind the last blank line: a frame only if the sender left the blank line out. */
  rest(): Uint8Array {
    return this.cutter.rest();
  }

  private read(bytes: Uint8Array, kept: Uint8Array[]): void {
    if (bytes.byteLength === 0) return;
    for (const frame of this.cutter.push(bytes)) if (this.reader.keep(frame)) kept.push(frame);
  }

  /** How many bytes of the piece's beginning pass unread. */
  private unread(piece: Uint8Array): number {
    const text = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString("latin1");
    const telling = text.search(this.reader.telling);
    const end = text.lastIndexOf(BLANK_LINE, telling < 0 ? text.length : telling) + BLANK_LINE.length;
    if (end < BLANK_LINE.length) return 0;
    return this.reader.note(end === text.length ? text : text.slice(0, end)) ? end : 0;
  }
}

/** Where the first frame after one that was torn may begin; the end of the piece where it holds no blank line. */
function behindBlankLine(piece: Uint8Array): number {
  const at = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).indexOf(BLANK_LINE);
  return at < 0 ? piece.byteLength : at + BLANK_LINE.length;
}

/** Length of a member's texts in the text of frames, in bytes as written; 0 when one has no end. */
export function lengthUnder(member: string, text: string): number {
  const opening = `"${member}":"`;
  let length = 0;
  for (let at = text.indexOf(opening); at >= 0; at = text.indexOf(opening, at)) {
    const from = at + opening.length;
    at = closingQuote(text, from);
    if (at < 0) return 0;
    length += at - from;
  }
  return length;
}

/** Where the JSON text ends that begins at `from`; -1 where it has no end. */
export function closingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (at > from && isEscaped(text, at)) at = text.indexOf('"', at + 1);
  return at;
}

function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text.charCodeAt(before) === BACKSLASH) before--;
  return (at - before) % 2 === 0;
}
