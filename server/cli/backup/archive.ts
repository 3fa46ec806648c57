import { createHash, type Hash } from "node:crypto";
import { createReadStream, statSync } from "node:fs";
import { createGunzip } from "node:zlib";
import { ARCHIVE_PIECE } from "./write-archive.ts";

/**
 * Format of a backup: gzip over entries, each of which is a line of JSON describing it and chunks of bytes, each preceded by a line with
 * its length, the last of which is 0. The final entry has the digest of everything before it, so that truncation or change is detected
 * without a database.
 */
const LINE_FEED = 0x0a;
const NUL = Buffer.alloc(0);
/** No valid line is longer than this. */
const MAX_LINE_LENGTH = 4 * 1024 * 1024;

/** The file is not a complete, unchanged backup; the message is one line. */
export class BackupDamaged extends Error {}

interface ArchiveEntry {
  readonly head: Readonly<Record<string, unknown>>;
  /** Must be read to its end before the next entry; any rest is skipped. */
  readonly bytes: AsyncGenerator<Uint8Array>;
}

/** Yields the entries of a backup except the last, whose digest is checked at the end. Throws `BackupDamaged`. */
export async function* readArchive(path: string): AsyncGenerator<ArchiveEntry> {
  const reader = new ArchiveReader(path);
  try {
    for (;;) {
      // The digest does not cover the final entry itself.
      const before = reader.digest.copy().digest("hex");
      const head = JSON.parse((await reader.line()).toString()) as Record<string, unknown>;
      const bytes = reader.pieces();
      const last = head["entry"] === "end";
      if (last && head["digest"] !== before) throw new BackupDamaged(`${path} is damaged: its digest is another one`);
      if (!last) yield { head, bytes };
      while ((await bytes.next()).done !== true);
      if (last) return await reader.requireEnd();
    }
  } catch (error) {
    if (error instanceof SyntaxError) throw new BackupDamaged(`${path} is not a whole backup: ${error.message}`, { cause: error });
    throw error;
  } finally {
    reader.close();
  }
}

class ArchiveReader {
  readonly digest: Hash = createHash("sha256");
  private readonly path: string;
  private readonly source: AsyncIterator<Buffer>;
  private readonly end: () => void;
  /** Bytes of the file consumed so far. */
  private readonly compressed: () => number;
  private held: Buffer = NUL;

  constructor(path: string) {
    this.path = path;
    const file = createReadStream(path, { highWaterMark: ARCHIVE_PIECE });
    const plain = createGunzip({ chunkSize: ARCHIVE_PIECE });
    file.on("error", (error) => plain.destroy(error));
    this.source = (file.pipe(plain) as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
    this.compressed = () => plain.bytesWritten;
    this.end = () => {
      file.destroy();
      plain.destroy();
    };
  }

  async line(): Promise<Buffer> {
    for (;;) {
      const at = this.held.indexOf(LINE_FEED);
      if (at >= 0) {
        const line = this.take(at + 1);
        return line.subarray(0, at);
      }
      if (this.held.byteLength > MAX_LINE_LENGTH) throw new BackupDamaged(`${this.path} is not a backup of a gateway`);
      await this.more();
    }
  }

  async *pieces(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const text = (await this.line()).toString();
      if (!/^\d{1,15}$/.test(text)) throw new BackupDamaged(`${this.path} is damaged: a piece has no length`);
      let left = Number(text);
      if (left === 0) return;
      while (left > 0) {
        if (this.held.byteLength === 0) await this.more();
        const piece = this.take(Math.min(left, this.held.byteLength));
        left -= piece.byteLength;
        yield piece;
      }
    }
  }

  /** Throws unless the file, too, ends after the last entry. */
  async requireEnd(): Promise<void> {
    let next: IteratorResult<Buffer> | null = null;
    while (this.held.byteLength === 0 && next?.done !== true) {
      next = await this.ask();
      if (next.done !== true) this.held = next.value;
    }
    if (this.held.byteLength > 0 || this.compressed() !== statSync(this.path).size)
      throw new BackupDamaged(`${this.path} is damaged: more was written behind its end`);
  }

  close(): void {
    this.end();
  }

  private take(length: number): Buffer {
    const taken = this.held.subarray(0, length);
    this.held = this.held.subarray(length);
    this.digest.update(taken);
    return taken;
  }

  private ask(): Promise<IteratorResult<Buffer>> {
    return this.source.next().catch((error: NodeJS.ErrnoException) => {
      throw unreadable(this.path, error);
    });
  }

  private async more(): Promise<void> {
    const next = await this.ask();
    if (next.done === true) throw new BackupDamaged(`${this.path} is not a whole backup: it ends too early`);
    this.held = this.held.byteLength === 0 ? next.value : Buffer.concat([this.held, next.value]);
  }
}

/** Turns a read error into one that names the file; thrown for chunks as for entries. */
function unreadable(path: string, error: NodeJS.ErrnoException): Error {
  if (/^Z_|zlib|gzip|incorrect|unexpected end/i.test(`${error.code} ${error.message}`))
    return new BackupDamaged(`${path} is not a whole backup: ${error.message}`, { cause: error });
  return new Error(`${path} cannot be read: ${error.message}`, { cause: error });
}
