const LINE_FEED = 0x0a;

/**
 * Splits the bytes of a file into lines, those of each piece together: millions of single awaited lines would cost more
 * than verifying them. Holds one piece and the line it breaks off in.
 */
export async function* lineBatches(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  let rest = Buffer.alloc(0);
  for await (const piece of pieces) {
    const bytes = rest.length === 0 ? Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength) : Buffer.concat([rest, piece]);
    // A line feed is never part of a longer UTF-8 sequence.
    const end = bytes.lastIndexOf(LINE_FEED);
    if (end >= 0) yield bytes.toString("utf8", 0, end).split("\n");
    rest = Buffer.from(bytes.subarray(end + 1));
  }
  if (rest.length > 0) yield [rest.toString("utf8")];
}
