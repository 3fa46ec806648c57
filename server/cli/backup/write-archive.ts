import { createHash } from "node:crypto";
import { createWriteStream, openSync, fsyncSync, closeSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { PassThrough } from "node:stream";

export const ARCHIVE_PIECE = 256 * 1024;

export interface ArchiveWriter {
  entry(head: object, bytes?: AsyncIterable<Uint8Array>): Promise<void>;
}

/** Writes a file completely or not at all, readable only by its owner. */
export async function writeArchive(path: string, fill: (archive: ArchiveWriter) => Promise<void>): Promise<string> {
  const unfinished = `${path}.unfinished`;
  await rm(unfinished, { force: true });
  const input = new PassThrough({ highWaterMark: 4 * ARCHIVE_PIECE });
  const written = pipeline(input, createGzip({ level: 6 }), createWriteStream(unfinished, { mode: 0o600, flags: "wx" }));
  written.catch(() => undefined);
  const digest = createHash("sha256");
  const put = async (bytes: Uint8Array, counted = true) => {
    if (counted) digest.update(bytes);
    if (!input.write(bytes)) await Promise.race([new Promise((resolve) => input.once("drain", resolve)), written]);
  };
  try {
    await fill({
      async entry(head, bytes) {
        await put(Buffer.from(`${JSON.stringify(head)}\n`));
        if (bytes !== undefined)
          for await (const piece of bytes) {
            if (piece.byteLength === 0) continue;
            await put(Buffer.from(`${piece.byteLength}\n`));
            await put(piece);
          }
        await put(Buffer.from("0\n"));
      },
    });
    const whole = digest.digest("hex");
    await put(Buffer.from(`${JSON.stringify({ entry: "end", digest: whole })}\n0\n`), false);
    input.end();
    await written;
    const file = openSync(unfinished, "r");
    fsyncSync(file);
    closeSync(file);
    await rename(unfinished, path);
    return whole;
  } catch (error) {
    input.destroy();
    await written.catch(() => undefined);
    await rm(unfinished, { force: true });
    throw error;
  }
}
