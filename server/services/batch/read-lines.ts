/** A line is longer than any may be, or no text. */
export class UnreadableLine extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

const MOST_LINE_BYTES = 16 * 1024 * 1024;
const NEWLINE = 0x0a;

/** The lines of a file as they come, without those that are empty, each with its number. No more than one is held. */
export async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<{ readonly line: number; readonly text: string }> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let held: Uint8Array[] = [];
  let size = 0;
  let line = 1;
  const taken = (): { line: number; text: string } => {
    let text: string;
    try {
      text = decoder.decode(held.length === 1 ? held[0] : Buffer.concat(held));
    } catch {
      throw new UnreadableLine(line, "is not UTF-8");
    }
    held = [];
    size = 0;
    return { line: line++, text };
  };
  for await (const piece of stream) {
    let from = 0;
    for (let at = piece.indexOf(NEWLINE); at >= 0; at = piece.indexOf(NEWLINE, from)) {
      held.push(piece.subarray(from, at));
      from = at + 1;
      const found = taken();
      if (found.text.trim() !== "") yield found;
    }
    held.push(piece.subarray(from));
    size += piece.byteLength - from;
    if (size > MOST_LINE_BYTES) throw new UnreadableLine(line, `is longer than ${MOST_LINE_BYTES} bytes`);
  }
  const rest = taken();
  if (rest.text.trim() !== "") yield rest;
}
