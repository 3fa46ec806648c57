import { fromBuffer, type Entry, type ZipFile } from "yauzl";
import { UnreadableDocument } from "./document-text.ts";

const MOST_ENTRIES = 20_000;

export function openedZip(archive: Buffer): Promise<ZipFile> {
  return new Promise((resolve, reject) => {
    fromBuffer(archive, { lazyEntries: true, validateEntrySizes: true }, (error, zip) => (error === null ? resolve(zip) : reject(error)));
  });
}

export function listedZip(zip: ZipFile): Promise<Map<string, Entry>> {
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
