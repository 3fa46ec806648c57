import { fromBuffer, type Entry, type ZipFile } from "yauzl";

/** An archive in which different ZIP readers would find different content. */
export class AmbiguousZip extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "AmbiguousZip";
  }
}

export class TooManyZipEntries extends Error {}

export interface ZipArchive {
  readonly zip: ZipFile;
  readonly entries: readonly Entry[];
}

const LOCAL_BYTES = 30;
const LISTED_BYTES = 46;
const END_BYTES = 22;
const LOCATOR_BYTES = 20;
const LOCAL = 0x04034b50;
const LOCATOR = 0x07064b50;
const LOCAL_MARK = Buffer.from("PK\u0003\u0004", "latin1");
const ENCRYPTED = 0x0001;
const SIZES_FOLLOW = 0x0008;
const UTF_8 = 0x0800;
const IN_ZIP64 = 0xffffffff;
const ZIP64 = 0x0001;

/**
 * Lists the entries of a ZIP without unpacking them. Some programs read the directory at the end, others one local header after another;
 * throws `AmbiguousZip` unless both would find the same content.
 */
export async function openZip(
  archive: Uint8Array,
  { mostEntries, strictFileNames = false }: { readonly mostEntries: number; readonly strictFileNames?: boolean },
): Promise<ZipArchive> {
  const bytes = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
  const zip = await opened(bytes, strictFileNames);
  if (zip.entryCount > mostEntries) throw new TooManyZipEntries();
  const entries = await listed(zip);
  const directory = requireOneDirectory(bytes, zip, entries);
  requireOneOfEachName(entries);
  const places = entries.map((entry) => placeOf(bytes, entry)).toSorted((a, b) => a.from - b.from);
  let free = 0;
  for (const [index, { from, to, name }] of places.entries()) {
    if (from < free) throw new AmbiguousZip(`its entries ${quoted(places[index - 1]?.name ?? "")} and ${quoted(name)} overlap`);
    requireNoEntryIn(bytes, free, from);
    free = to;
  }
  if (free > directory) throw new AmbiguousZip(`its entry ${quoted(places.at(-1)?.name ?? "")} and its directory overlap`);
  requireNoEntryIn(bytes, free, directory);
  return { zip, entries };
}

const quoted = (name: string) => JSON.stringify(name.slice(0, 100).toWellFormed());

function opened(archive: Buffer, strictFileNames: boolean): Promise<ZipFile> {
  return new Promise((resolve, reject) => {
    fromBuffer(archive, { lazyEntries: true, strictFileNames, validateEntrySizes: true }, (error, zip) => {
      if (error === null) resolve(zip);
      else reject(error);
    });
  });
}

function listed(zip: ZipFile): Promise<Entry[]> {
  return new Promise((resolve, reject) => {
    const entries: Entry[] = [];
    zip.on("error", reject);
    zip.on("end", () => resolve(entries));
    zip.on("entry", (entry: Entry) => {
      entries.push(entry);
      zip.readEntry();
    });
    zip.readEntry();
  });
}

/** Offset of the directory, which must end exactly at the end record, because some readers compute its start from its length. */
function requireOneDirectory(bytes: Buffer, zip: ZipFile, entries: readonly Entry[]): number {
  // The comment is decoded as one character per byte.
  const end = bytes.length - END_BYTES - zip.comment.length;
  let [count, size, begin, upTo] = [bytes.readUInt16LE(end + 10), bytes.readUInt32LE(end + 12), bytes.readUInt32LE(end + 16), end];
  const locator = end - LOCATOR_BYTES;
  if (locator >= 0 && bytes.readUInt32LE(locator) === LOCATOR) {
    upTo = wide(bytes, locator + 8);
    const record = { count: wide(bytes, upTo + 32), size: wide(bytes, upTo + 40), begin: wide(bytes, upTo + 48) };
    const agrees =
      (count === 0xffff || count === record.count) &&
      (size === IN_ZIP64 || size === record.size) &&
      (begin === IN_ZIP64 || begin === record.begin) &&
      upTo + 12 + wide(bytes, upTo + 4) === locator;
    if (!agrees) throw new AmbiguousZip("its two records of where its directory is contradict each other");
    ({ count, size, begin } = record);
  }
  const read = entries.reduce(
    (sum, { fileNameLength, extraFieldLength, fileCommentLength }) =>
      sum + LISTED_BYTES + fileNameLength + extraFieldLength + fileCommentLength,
    0,
  );
  if (count !== entries.length || size !== read || begin + size !== upTo)
    throw new AmbiguousZip("its directory is not as long, or not where, its last record says");
  return begin;
}

const wide = (bytes: Buffer, at: number) => Number(bytes.readBigUInt64LE(at));

function requireOneOfEachName(entries: readonly Entry[]): void {
  const names = new Set<string>();
  for (const { fileName } of entries) {
    if (names.has(fileName)) throw new AmbiguousZip(`its entry ${quoted(fileName)} is there twice`);
    names.add(fileName);
  }
}

/** The position of an entry, whose local header must agree with the directory. */
function placeOf(bytes: Buffer, entry: Entry): { readonly name: string; readonly from: number; readonly to: number } {
  const { fileName: name, relativeOffsetOfLocalHeader: from } = entry;
  if (from + LOCAL_BYTES > bytes.length || bytes.readUInt32LE(from) !== LOCAL)
    throw new AmbiguousZip(`its entry ${quoted(name)} is not where its directory says`);
  const nameEnd = from + LOCAL_BYTES + bytes.readUInt16LE(from + 26);
  const begin = nameEnd + bytes.readUInt16LE(from + 28);
  const to = begin + entry.compressedSize;
  if (to > bytes.length) throw new AmbiguousZip(`its entry ${quoted(name)} is cut off`);
  const rawName = bytes.subarray(from + LOCAL_BYTES, nameEnd);
  const flags = bytes.readUInt16LE(from + 6);
  const differing = flags ^ entry.generalPurposeBitFlag;
  const [packed, unpacked] = sizesOf(bytes, from, bytes.subarray(nameEnd, begin));
  const later = (flags & SIZES_FOLLOW) !== 0;
  const is = (recordedSize: number, listedAs: number) => recordedSize === listedAs || (later && recordedSize === 0);
  const agrees =
    rawName.equals(entry.fileNameRaw) &&
    (differing & ENCRYPTED) === 0 &&
    ((differing & UTF_8) === 0 || rawName.every((byte) => byte < 0x80)) &&
    bytes.readUInt16LE(from + 8) === entry.compressionMethod &&
    is(bytes.readUInt32LE(from + 14), entry.crc32) &&
    is(packed, entry.compressedSize) &&
    is(unpacked, entry.uncompressedSize);
  if (!agrees) throw new AmbiguousZip(`the header of its entry ${quoted(name)} contradicts its directory`);
  return { name, from, to };
}

/** Packed and unpacked size according to a local header. */
function sizesOf(bytes: Buffer, header: number, extra: Buffer): readonly [packed: number, unpacked: number] {
  const [packed, unpacked] = [bytes.readUInt32LE(header + 18), bytes.readUInt32LE(header + 22)];
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== ZIP64 || at + 20 > extra.length || extra.readUInt16LE(at + 2) < 16) continue;
    return [packed === IN_ZIP64 ? wide(extra, at + 12) : packed, unpacked === IN_ZIP64 ? wide(extra, at + 4) : unpacked];
  }
  return [packed, unpacked];
}

/**
 * Between entries there may be data descriptors and padding. An entry hidden there would be found only by readers that ignore the
 * directory.
 */
function requireNoEntryIn(bytes: Buffer, from: number, to: number): void {
  if (bytes.subarray(from, Math.max(from, to)).includes(LOCAL_MARK))
    throw new AmbiguousZip("it has an entry that its directory does not list");
}
