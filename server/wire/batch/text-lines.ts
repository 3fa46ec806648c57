/** A piece of a batch's input: one line of JSON lines, or one element of an array. */
export interface InputPiece {
  /** From 1 for lines; of an array, the number of the element from 1. */
  readonly number: number;
  readonly text: Uint8Array;
}

const NEWLINE = 10;

/** Raised where one piece is longer than it may be. */
export class PieceTooLong extends Error {
  /** Null of what stands beside the pieces. */
  readonly number: number | null;
  constructor(number: number | null) {
    super(`piece ${number ?? "of the rest"} is too long`);
    this.name = "PieceTooLong";
    this.number = number;
  }
}

/** The lines of a text as they come; empty ones are none. Never more is held than one line. `leavesOut`: those that are too long. */
export async function* textLines(bytes: AsyncIterable<Uint8Array>, mostBytes: number, leavesOut = false): AsyncGenerator<InputPiece> {
  let held: Uint8Array[] = [];
  let size = 0;
  let number = 0;
  const close = (): InputPiece | null => {
    number++;
    const text = size > mostBytes ? null : Buffer.concat(held, size);
    held = [];
    size = 0;
    return text === null || isBlank(text) ? null : { number, text };
  };
  for await (const piece of bytes) {
    let from = 0;
    for (;;) {
      const at = piece.indexOf(NEWLINE, from);
      const part = piece.subarray(from, at < 0 ? piece.byteLength : at);
      size += part.byteLength;
      if (size > mostBytes) {
        if (!leavesOut) throw new PieceTooLong(number + 1);
        held = [];
      } else if (part.byteLength > 0) held.push(part);
      if (at < 0) break;
      const line = close();
      if (line !== null) yield line;
      from = at + 1;
    }
  }
  const last = size > 0 ? close() : null;
  if (last !== null) yield last;
}

function isBlank(text: Uint8Array): boolean {
  return text.every((byte) => byte === 32 || byte === 9 || byte === 13);
}
