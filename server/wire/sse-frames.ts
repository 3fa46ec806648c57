import type { JsonValue } from "./document.ts";

/**
 * Cuts a server-sent event stream into whole frames without touching a byte: a frame ends behind its blank line, which
 * may be written with LF, CRLF or CR.
 */

const LF = 10;
const CR = 13;

/** No vendor sends a larger one; without a bound an upstream could fill the memory. */
const MAX_FRAME_BYTES = 16 * 1024 * 1024;

export class FrameTooLarge extends Error {}

export class FrameCutter {
  private held: Uint8Array[] = [];
  private heldBytes = 0;

  /** Whether everything pushed so far was whole frames. */
  get isEmpty(): boolean {
    return this.heldBytes === 0;
  }

  /** Whole frames, each with its closing blank line; what is left over waits for the next piece. */
  push(piece: Uint8Array): Uint8Array[] {
    // Without a line break nothing can have ended: joining and scanning again at each piece would make a long event quadratic.
    if (this.heldBytes > 0 && piece.indexOf(LF) < 0 && piece.indexOf(CR) < 0 && this.held.at(-1)?.at(-1) !== CR) {
      if (piece.byteLength === 0) return [];
      this.heldBytes += piece.byteLength;
      if (this.heldBytes > MAX_FRAME_BYTES) throw new FrameTooLarge("an event of the stream is larger than 16 MiB");
      this.held.push(piece);
      return [];
    }
    let bytes = piece;
    if (this.heldBytes > 0) {
      bytes = concat([...this.held, piece], this.heldBytes + piece.byteLength);
      this.held = [];
      this.heldBytes = 0;
    }
    const frames: Uint8Array[] = [];
    const start = bytes.indexOf(CR) < 0 ? cutAtLineFeeds(bytes, frames) : cutAtAnyBreak(bytes, frames);
    if (start < bytes.length) {
      const rest = bytes.subarray(start);
      this.heldBytes = rest.byteLength;
      if (this.heldBytes > MAX_FRAME_BYTES) throw new FrameTooLarge("an event of the stream is larger than 16 MiB");
      this.held = [rest];
    }
    return frames;
  }

  /** What came behind the last blank line: a frame only if the sender left the blank line out. */
  rest(): Uint8Array {
    return concat(this.held, this.heldBytes);
  }
}

const BLANK_LINE = "\n\n";

/** What nearly every sender writes, found natively. Returns where the last frame ended. */
function cutAtLineFeeds(bytes: Uint8Array, frames: Uint8Array[]): number {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let start = 0;
  for (let at = view.indexOf(BLANK_LINE); at >= 0; at = view.indexOf(BLANK_LINE, start)) {
    frames.push(bytes.subarray(start, at + 2));
    start = at + 2;
  }
  return start;
}

function cutAtAnyBreak(bytes: Uint8Array, frames: Uint8Array[]): number {
  let start = 0;
  let i = 0;
  while (i < bytes.length) {
    const c = bytes[i] as number;
    if (c !== LF && c !== CR) {
      i++;
      continue;
    }
    // A CR at the very end may be the first half of a CRLF still on its way.
    if (c === CR && i + 1 === bytes.length) break;
    const next = c === CR && bytes[i + 1] === LF ? i + 2 : i + 1;
    if (next >= bytes.length) break;
    const d = bytes[next] as number;
    if (d === LF || d === CR) {
      // Unless the line before ended with CR alone: then there is no such half, and a sender who waits for an answer sends nothing more.
      const aloneBefore = c === CR && next === i + 1;
      if (d === CR && next + 1 === bytes.length && !aloneBefore) break;
      const end = d === CR && bytes[next + 1] === LF ? next + 2 : next + 1;
      frames.push(bytes.subarray(start, end));
      start = end;
      i = end;
    } else {
      i = next;
    }
  }
  return start;
}

/** The data of one frame, its lines joined as the format says; null for a comment or an event without data. */
export function frameData(frame: string): string | null {
  let data: string | null = null;
  for (const line of frame.split(/\r\n|\n|\r/)) {
    if (!line.startsWith("data:")) continue;
    const value = line.charCodeAt(5) === 32 ? line.slice(6) : line.slice(5);
    data = data === null ? value : `${data}\n${value}`;
  }
  return data;
}

const LINE_BREAKS = /[\u0085\u2028\u2029]/g;

/** A value as the data of one line: JSON lets breaks stand in a text at which many clients end a line, Python's among them. */
export function lineJson(value: JsonValue): string {
  return JSON.stringify(value).replace(LINE_BREAKS, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Whether what a sender left without a blank line is an event all the same, and not the torn beginning of one. */
export function isWholeEvent(rest: Uint8Array): boolean {
  const data = frameData(new TextDecoder().decode(rest));
  if (data === null) return false;
  if (data === "[DONE]") return true;
  try {
    JSON.parse(data);
    return true;
  } catch {
    return false;
  }
}

/** The parts in one; those that lie one behind the other in memory are not copied. */
export function concat(parts: readonly Uint8Array[], total = parts.reduce((sum, part) => sum + part.byteLength, 0)): Uint8Array {
  const [first] = parts;
  if (first !== undefined && lieTogether(parts)) return new Uint8Array(first.buffer, first.byteOffset, total);
  const bytes = new Uint8Array(total);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.byteLength;
  }
  return bytes;
}

function lieTogether(parts: readonly Uint8Array[]): boolean {
  for (let i = 1; i < parts.length; i++) {
    const [before, part] = [parts[i - 1] as Uint8Array, parts[i] as Uint8Array];
    if (part.buffer !== before.buffer || part.byteOffset !== before.byteOffset + before.byteLength) return false;
  }
  return true;
}
