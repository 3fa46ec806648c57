import { closeSync, openSync, readSync } from "node:fs";

const PIECE_BYTES = 256 * 1024;

/**
 * The bytes of a file, each piece valid until the next is asked for. Read in turn with the work on them: for a process
 * that does nothing else, a stream costs more than the reading.
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
