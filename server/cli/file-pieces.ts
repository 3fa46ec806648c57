import { closeSync, openSync, readSync } from "node:fs";

const PIECE_BYTES = 256 * 1024;

/**
 * The bytes of a file in chunks, each valid until the next is requested. Reads synchronously, which costs less than a stream for a process
 * that does nothing else.
 */
export function* filePieces(path: string): Generator<Uint8Array> {
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  const fd = openSync(path, "r");
  try {
    for (let bytes = readSync(fd, piece, 0, PIECE_BYTES, null); bytes > 0; bytes = readSync(fd, piece, 0, PIECE_BYTES, null))
      yield piece.subarray(0, bytes);
  } finally {
    closeSync(fd);
  }
}
