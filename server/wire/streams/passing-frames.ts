import { concat } from "./adjoining-bytes.ts";
import { FrameCutter } from "./sse-frames.ts";
import type { StreamPiece } from "./stream.ts";

export interface FrameReader {
  /** Matches frames that must be parsed. Text inside a JSON string cannot match as a member name, because its quotes are escaped. */
  readonly telling: RegExp;
  /** Whether frames may currently pass without being parsed. */
  passes(): boolean;
  /** Notes complete frames that do not match `telling`, as Latin-1 text of their bytes. False if they must be parsed after all. */
  note(text: string): boolean;
  /** Parses a frame and tells whether it passes. */
  keep(frame: Uint8Array): boolean;
}

const BLANK_LINE = "\n\n";
const BACKSLASH = 92;

/**
 * Passes SSE frames through byte for byte. At the start of each piece, complete frames before the first one matching
 * `telling` pass unparsed: nearly the whole stream, at a fraction of the cost of parsing.
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

  /** The bytes after the last blank line: a frame only if the sender omitted the final blank line. */
  rest(): Uint8Array {
    return this.cutter.rest();
  }

  private read(bytes: Uint8Array, kept: Uint8Array[]): void {
    if (bytes.byteLength === 0) return;
    for (const frame of this.cutter.push(bytes)) if (this.reader.keep(frame)) kept.push(frame);
  }

  /** The number of bytes at the start of the piece that pass unparsed. */
  private unread(piece: Uint8Array): number {
    const text = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString("latin1");
    const telling = text.search(this.reader.telling);
    const end = text.lastIndexOf(BLANK_LINE, telling < 0 ? text.length : telling) + BLANK_LINE.length;
    if (end < BLANK_LINE.length) return 0;
    return this.reader.note(end === text.length ? text : text.slice(0, end)) ? end : 0;
  }
}

/** The offset where the first frame after one continued from the previous piece can start; the end of the piece if it contains no blank line. */
function behindBlankLine(piece: Uint8Array): number {
  const at = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).indexOf(BLANK_LINE);
  return at < 0 ? piece.byteLength : at + BLANK_LINE.length;
}

/** Total length of a member's string values in the frames, in encoded bytes; 0 if one is unterminated. */
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

/** The offset of the quote that ends the JSON string whose content starts at `from`; -1 if unterminated. */
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
