import type { Entry, ZipFile } from "yauzl";
import { AmbiguousZip, openZip, TooManyZipEntries } from "../../../kernel/files/zip-archive.ts";
import { UnreadableDocument } from "./document-text.ts";

const MIB = 1024 * 1024;
const MAX_ENTRIES = 20_000;
/** Limits the declared sizes of all parts that are read; a part larger than declared counts as damaged. */
const MAX_BYTES = 200 * MIB;

/** The parts of an Office document. Each is unpacked incrementally and only when read, within `MAX_BYTES`. */
export class ZipParts {
  private readonly zip: ZipFile;
  private readonly entries: ReadonlyMap<string, Entry>;
  private left = MAX_BYTES;

  private constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.zip = zip;
    this.entries = entries;
  }

  static async open(archive: Uint8Array): Promise<ZipParts> {
    const { zip, entries: listed } = await openZip(archive, { mostEntries: MAX_ENTRIES }).catch((error: unknown) => {
      if (error instanceof AmbiguousZip) throw new UnreadableDocument(`Programs would read it differently: ${error.message}.`);
      if (error instanceof TooManyZipEntries) throw new UnreadableDocument(`It has more than ${MAX_ENTRIES} parts.`);
      throw new UnreadableDocument("It is no Office document, or damaged.");
    });
    const entries = new Map(listed.map((entry) => [entry.fileName, entry]));
    // Part names are case-insensitive, so another program could read a different one of two such parts.
    const folded = new Set(listed.map(({ fileName }) => fileName.toLowerCase()));
    if (folded.size < listed.length) throw new UnreadableDocument("Programs would read it differently: parts of it differ by case alone.");
    const macros = [...entries.keys()].find((name) => /(^|\/)vbaProject\.bin$|(^|\/)macrosheets\//i.test(name));
    if (macros !== undefined) throw new UnreadableDocument("It holds macros, which are never run: save it without them.");
    return new ZipParts(zip, entries);
  }

  get names(): string[] {
    return [...this.entries.keys()];
  }

  /** Passes the part to `take` piece by piece; does nothing if the part does not exist. */
  async each(name: string, take: (piece: Buffer) => void): Promise<void> {
    const entry = this.entries.get(name);
    if (entry === undefined) return;
    if (entry.isEncrypted()) throw new UnreadableDocument("It is protected by a password.");
    this.left -= entry.uncompressedSize;
    if (this.left < 0) throw new UnreadableDocument(`It unpacks to more than ${MAX_BYTES / MIB} MiB.`);
    const stream = await new Promise<NodeJS.ReadableStream>((resolve, reject) => {
      this.zip.openReadStream(entry, (error, found) => (error === null ? resolve(found) : reject(error)));
    });
    for await (const piece of stream as AsyncIterable<Buffer>) {
      take(piece);
    }
  }
}
