const LINE_FEED = 0x0a;

/**
 * Cuts the bytes of a file into texts of whole lines, each with its line feed but perhaps the last: millions of single
 * awaited lines would cost more than verifying them. Holds the line a piece breaks off in; a piece may be overwritten
 * once the next is asked for.
 */
export async function* wholeLines(pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  for await (const piece of pieces) {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    // A line feed is never part of a longer UTF-8 sequence.
    const first = rest.length === 0 ? 0 : bytes.indexOf(LINE_FEED) + 1;
    const end = bytes.lastIndexOf(LINE_FEED) + 1;
    if (first > 0) {
      yield Buffer.concat([...rest, bytes.subarray(0, first)]).toString();
      rest = [];
    }
    if (end > first) yield bytes.toString("utf8", first, end);
    if (end < bytes.length) rest.push(Buffer.from(bytes.subarray(end)));
  }
  if (rest.length > 0) yield Buffer.concat(rest).toString();
}
