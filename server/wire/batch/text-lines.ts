/** One unit of a batch's input: a line of JSON Lines, or an element of an array. */
export interface InputPiece {
  /** The line or element number, starting at 1. */
  readonly number: number;
  readonly text: Uint8Array;
}

const NEWLINE = 10;

/** Thrown if one piece exceeds the size limit. */
export class PieceTooLong extends Error {
  /** Null if the text outside the pieces is too long. */
  readonly number: number | null;
  constructor(number: number | null) {
    super(`piece ${number ?? "of the rest"} is too long`);
    this.name = "PieceTooLong";
    this.number = number;
  }
}

/**
 * Yields the non-empty lines of a stream, holding at most one in memory. With `leavesOut`, skips lines longer than
 * `mostBytes` instead of throwing `PieceTooLong`.
 */
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
