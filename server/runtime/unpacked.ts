import { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import { cancelQuietly } from "../kernel/http/cancel-quietly.ts";

const UNPACKERS = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
} as const;

const PIECE_BYTES = 16 * 1024;

/**
 * The response with its body decompressed as it is read, because a few bytes may expand beyond the available memory. Other encodings are
 * left as they are. The content-encoding header is kept.
 */
export function unpacked(response: Response): Response {
  const coding = response.headers.get("content-encoding")?.trim().toLowerCase();
  // `body` is checked last: accessing the stream disables Bun's fast path for reading a whole response.
  if (coding === undefined || !Object.hasOwn(UNPACKERS, coding) || response.body === null) return response;
  const unpacker = UNPACKERS[coding as keyof typeof UNPACKERS]({ chunkSize: PIECE_BYTES });
  const reader = response.body.getReader();
  const packed = Readable.from(piecesOf(reader), { highWaterMark: 1 });
  packed.on("error", (error) => unpacker.destroy(error));
  // An error event that nobody listens to ends the process, and reading may begin later or never. It is reported to whoever reads. The
  // other side may hold the connection open after it.
  unpacker.on("error", () => void cancelQuietly(reader));
  packed.pipe(unpacker);
  const pieces = unpacker[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await pieces.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      cancel() {
        void cancelQuietly(reader);
        packed.destroy();
        unpacker.destroy();
      },
    },
    { highWaterMark: 0 },
  );
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
}

async function* piecesOf(reader: ReadableStreamDefaultReader<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      for (let at = 0; at < value.byteLength; at += PIECE_BYTES) yield value.subarray(at, at + PIECE_BYTES);
    }
  } finally {
    void cancelQuietly(reader);
  }
}
