import { expect, test } from "bun:test";
import { crc32, deflateRawSync } from "node:zlib";
import { zipSync } from "fflate";
import { AmbiguousZip, openZip } from "./zip-archive.ts";

interface Member {
  readonly name: string;
  readonly text: string;
  /** Values of the local header where they differ from the directory. */
  readonly local?: { name?: string; method?: number; flags?: number; packed?: number; unpacked?: number; crc?: number };
  readonly flags?: number;
  /** Extra field of the local header. */
  readonly extra?: Buffer;
  /** Bytes after the entry. */
  readonly after?: Buffer;
  readonly listed?: boolean;
}

/** A ZIP of these members that no library would write. */
function zipOf(members: readonly Member[], { begin = 0, trailing = Buffer.alloc(0) } = {}): Buffer {
  const pieces: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  const add = (piece: Buffer) => {
    pieces.push(piece);
    at += piece.length;
  };
  for (const { name, text, local = {}, flags = 0, extra = Buffer.alloc(0), after, listed = true } of members) {
    const packed = deflateRawSync(text);
    const head = (nameThere: string, said: Required<Omit<NonNullable<Member["local"]>, "name">>, extraBytes: number) => {
      const fields = Buffer.alloc(26);
      fields.writeUInt16LE(20, 0);
      fields.writeUInt16LE(said.flags, 2);
      fields.writeUInt16LE(said.method, 4);
      fields.writeUInt32LE(said.crc, 10);
      fields.writeUInt32LE(said.packed, 14);
      fields.writeUInt32LE(said.unpacked, 18);
      fields.writeUInt16LE(Buffer.byteLength(nameThere), 22);
      fields.writeUInt16LE(extraBytes, 24);
      return fields;
    };
    const said = { flags, method: 8, crc: crc32(text), packed: packed.length, unpacked: Buffer.byteLength(text) };
    const offset = Buffer.alloc(14);
    offset.writeUInt32LE(at, 10);
    if (listed) directory.push(Buffer.from("PK\u0001\u0002\u0014\0", "latin1"), head(name, said, 0), offset, Buffer.from(name));
    const localName = local.name ?? name;
    add(Buffer.from("PK\u0003\u0004", "latin1"));
    add(head(localName, { ...said, ...local }, extra.length));
    add(Buffer.from(localName));
    add(extra);
    add(packed);
    if (after !== undefined) add(after);
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  const count = members.filter(({ listed }) => listed !== false).length;
  end.write("PK\u0005\u0006", "latin1");
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(at + begin, 16);
  return Buffer.concat([...pieces, list, trailing, end]);
}

async function outcome(archive: Uint8Array): Promise<string> {
  try {
    return (await openZip(archive, { mostEntries: 100 })).entries.map(({ fileName }) => fileName).join(" ");
  } catch (error) {
    if (error instanceof AmbiguousZip) return error.message;
    throw error;
  }
}

const a: Member = { name: "a", text: "first" };
const b: Member = { name: "b", text: "second" };
const wide = (...sizes: number[]) => {
  const extra = Buffer.alloc(4 + sizes.length * 8);
  extra.writeUInt16LE(1, 0);
  extra.writeUInt16LE(sizes.length * 8, 2);
  for (const [i, size] of sizes.entries()) extra.writeBigUInt64LE(BigInt(size), 4 + i * 8);
  return extra;
};
const packedBytes = deflateRawSync(a.text).length;
const SIZES_FOLLOW = { flags: 8, local: { packed: 0, unpacked: 0, crc: 0 }, after: Buffer.alloc(16) };

const taken: readonly (readonly [string, Uint8Array])[] = [
  ["written by a library", zipSync({ a: Buffer.from("first"), b: Buffer.from("second") })],
  ["written by hand", zipOf([a, b])],
  ["whose sizes follow its entries", zipOf([{ ...a, ...SIZES_FOLLOW }, b])],
  [
    "with 64-bit sizes in its headers",
    zipOf([{ ...a, local: { packed: 0xffffffff, unpacked: 0xffffffff }, extra: wide(a.text.length, packedBytes) }, b]),
  ],
  ["with padding between its entries", zipOf([{ ...a, after: Buffer.alloc(100) }, b])],
];
test.each(taken)("a ZIP archive %s is opened", async (_what, archive) => {
  expect(await outcome(archive)).toBe("a b");
});

test("an empty ZIP archive has no entries", async () => {
  expect(await outcome(zipOf([]))).toBe("");
});

/** Two entries over the same bytes: the second, including its header, is the packed data of the first. */
function overlapping(): Buffer {
  const archive = zipOf([a, b]);
  const [first, second] = [archive.indexOf("PK\u0001\u0002"), archive.lastIndexOf("PK\u0001\u0002")];
  const until = archive.readUInt32LE(second + 42) + 40;
  // Keeps both headers of the first entry consistent.
  for (const at of [first + 20, 18]) archive.writeUInt32LE(until - 31, at);
  return archive;
}

const refused: readonly (readonly [string, Uint8Array, string])[] = [
  ["has two entries with one name", zipOf([a, a]), '"a" is there twice'],
  [
    "has two entries with one name, written with different separators",
    zipOf([
      { ...a, name: "x/y" },
      { ...b, name: "x\\y" },
    ]),
    '"x/y" is there twice',
  ],
  ["has entries that overlap", overlapping(), 'its entries "a" and "b" overlap'],
  ["has a different name in an entry's local header", zipOf([{ ...a, local: { name: "z" } }, b]), 'header of its entry "a" contradicts'],
  [
    "has a different compression method in a local header",
    zipOf([{ ...a, local: { method: 0 } }, b]),
    'header of its entry "a" contradicts',
  ],
  ["has a different size in a local header", zipOf([a, { ...b, local: { unpacked: 1 } }]), 'header of its entry "b" contradicts'],
  ["has a different compressed size in a local header", zipOf([a, { ...b, local: { packed: 1 } }]), 'header of its entry "b" contradicts'],
  ["has a different checksum in a local header", zipOf([a, { ...b, local: { crc: 1 } }]), 'header of its entry "b" contradicts'],
  ["is encrypted according to a local header only", zipOf([a, { ...b, local: { flags: 1 } }]), 'header of its entry "b" contradicts'],
  [
    "has no sizes in a local header and no data descriptor",
    zipOf([{ ...a, local: { packed: 0, unpacked: 0 } }, b]),
    'header of its entry "a" contradicts',
  ],
  [
    "has a different 64-bit size in a local header",
    zipOf([{ ...a, local: { packed: 0xffffffff, unpacked: 0xffffffff }, extra: wide(9, packedBytes) }, b]),
    'header of its entry "a" contradicts',
  ],
  ["has an entry its directory does not list", zipOf([a, { ...b, name: "c", listed: false }, b]), "its directory does not list"],
  ["ends with an entry its directory does not list", zipOf([a, { ...b, listed: false }]), "its directory does not list"],
  [
    "has other data after the directory named in its last record",
    zipOf([a, b], { trailing: Buffer.alloc(96) }),
    "not where, its last record says",
  ],
];
test.each(refused)("a ZIP archive that %s is refused", async (_what, archive, reason) => {
  expect(await outcome(archive)).toContain(reason);
});

test("a ZIP entry located within the directory, or outside the archive, is refused", async () => {
  const archive = zipOf([a, b]);
  const second = archive.lastIndexOf("PK\u0001\u0002");
  archive.writeUInt32LE(3, second + 42);
  expect(await outcome(archive)).toBe('its entry "b" is not where its directory says');
  archive.writeUInt32LE(0x7fffffff, second + 42);
  expect(await outcome(archive)).toBe('its entry "b" is not where its directory says');
});
