const LINE_FEED = 0x0a;

/**
 * Splits a file's bytes into texts of whole lines with their line feeds (the last may have none): awaiting millions of single lines would
 * cost more than verifying them. Buffers only the incomplete line at the end of a piece; a piece may be reused once the next is requested.
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
