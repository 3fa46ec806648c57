import { fromBuffer, type Entry, type ZipFile } from "yauzl";
import { UnreadableDocument } from "./document-text.ts";

const MOST_ENTRIES = 20_000;
const MIB = 1024 * 1024;
/** Of all parts that are read, as the archive says; one with more than it says is damaged. */
const MOST_BYTES = 200 * MIB;

/** The parts of an Office document, each read piece by piece: no more is unpacked than is wanted and allowed. */
export class ZipParts {
  private readonly zip: ZipFile;
  private readonly entries: ReadonlyMap<string, Entry>;
  private left = MOST_BYTES;

  private constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.zip = zip;
    this.entries = entries;
  }

  static async open(archive: Uint8Array): Promise<ZipParts> {
    const zip = await opened(Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength)).catch(() => {
      throw new UnreadableDocument("It is no Office document, or damaged.");
    });
    const entries = await listed(zip);
    const macros = [...entries.keys()].find((name) => /(^|\/)vbaProject\.bin$|(^|\/)macrosheets\//i.test(name));
    if (macros !== undefined) throw new UnreadableDocument("It holds macros, which are never run: save it without them.");
    return new ZipParts(zip, entries);
  }

  get names(): string[] {
    return [...this.entries.keys()];
  }

  /** Gives a part piece by piece; nothing where it is not there. */
  async each(name: string, take: (piece: Buffer) => void): Promise<void> {
    const entry = this.entries.get(name);
    if (entry === undefined) return;
    if (entry.isEncrypted()) throw new UnreadableDocument("It is protected by a password.");
    this.left -= entry.uncompressedSize;
    if (this.left < 0) throw new UnreadableDocument(`It unpacks to more than ${MOST_BYTES / MIB} MiB.`);
    const stream = await new Promise<NodeJS.ReadableStream>((resolve, reject) => {
      this.zip.openReadStream(entry, (error, found) => (error === null ? resolve(found) : reject(error)));
    });
    for await (const piece of stream as AsyncIterable<Buffer>) {
      take(piece);
    }
  }
}

function opened(archive: Buffer): Promise<ZipFile> {
  return new Promise((resolve, reject) => {
    fromBuffer(archive, { lazyEntries: true, validateEntrySizes: true }, (error, zip) => (error === null ? resolve(zip) : reject(error)));
  });
}

function listed(zip: ZipFile): Promise<Map<string, Entry>> {
  return new Promise((resolve, reject) => {
    const entries = new Map<string, Entry>();
    zip.on("error", () => reject(new UnreadableDocument("It is no Office document, or damaged.")));
    zip.on("end", () => resolve(entries));
    zip.on("entry", (entry: Entry) => {
      entries.set(entry.fileName, entry);
      if (entries.size > MOST_ENTRIES) reject(new UnreadableDocument(`It has more than ${MOST_ENTRIES} parts.`));
      else zip.readEntry();
    });
    zip.readEntry();
  });
}
