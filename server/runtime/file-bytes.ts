import { close, open, read } from "node:fs";
import { promisify } from "node:util";
import { streamOfPieces } from "../kernel/http/stream-of-pieces.ts";

const PIECE = 64 * 1024;
// File descriptors instead of handles: a handle collected before it is closed ends the process.
const [opened, readAt, closed] = [promisify(open), promisify(read), promisify(close)];

/** The bytes of a file from `start` up to but excluding `end`. The file is opened on the first read, so an unread stream may be dropped. */
export function fileBytes(path: string, start: number, end: number): ReadableStream<Uint8Array> {
  return streamOfPieces(piecesOf(path, start, end));
}

async function* piecesOf(path: string, start: number, end: number): AsyncGenerator<Uint8Array> {
  const file = await opened(path, "r");
  try {
    for (let at = start; at < end;) {
      const piece = new Uint8Array(Math.min(PIECE, end - at));
      const { bytesRead } = await readAt(file, piece, 0, piece.byteLength, at);
      if (bytesRead === 0) throw new Error("the stored bytes are fewer than their record says");
      at += bytesRead;
      yield piece.subarray(0, bytesRead);
    }
  } finally {
    await closed(file);
  }
}
