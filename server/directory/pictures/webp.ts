import type { StrippedPicture } from "./bare-picture.ts";

const HEADER_BYTES = 12;
const CHUNK_HEADER_BYTES = 8;
const FRAME_HEADER_BYTES = 16;
/** Extended header flags that announce Exif and XMP data. */
const EXIF_AND_XMP = 0x0c;

const DRAWING = new Set(["VP8 ", "VP8L", "VP8X", "ALPH", "ANIM", "ANMF", "ICCP"]);
const IN_A_FRAME = new Set(["VP8 ", "VP8L", "ALPH"]);

interface Chunk {
  readonly type: string;
  readonly data: Buffer;
}

/** Null if a chunk exceeds the file. */
function chunksOf(file: Buffer): Chunk[] | null {
  const chunks: Chunk[] = [];
  for (let at = 0; at < file.length;) {
    if (at + CHUNK_HEADER_BYTES > file.length) return null;
    const length = file.readUInt32LE(at + 4);
    const end = at + CHUNK_HEADER_BYTES + length;
    if (end > file.length) return null;
    chunks.push({ type: file.toString("latin1", at, at + 4), data: file.subarray(at + CHUNK_HEADER_BYTES, end) });
    // Chunks are aligned to even offsets; the padding of the last one may be missing.
    at = end + (length & 1);
  }
  return chunks;
}

function written({ type, data }: Chunk): Buffer {
  const header = Buffer.alloc(CHUNK_HEADER_BYTES);
  header.write(type, "latin1");
  header.writeUInt32LE(data.length, 4);
  return Buffer.concat(data.length & 1 ? [header, data, Buffer.alloc(1)] : [header, data]);
}

function sizeOf({ type, data }: Chunk): { width: number; height: number } | null {
  if (type === "VP8X") return data.length < 10 ? null : { width: data.readUIntLE(4, 3) + 1, height: data.readUIntLE(7, 3) + 1 };
  if (type === "VP8L") {
    if (data.length < 5 || data[0] !== 0x2f) return null;
    const bits = data.readUInt32LE(1);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (type === "VP8 ")
    return data.length < 10 || data.readUIntBE(3, 3) !== 0x9d012a
      ? null
      : { width: data.readUInt16LE(6) & 0x3fff, height: data.readUInt16LE(8) & 0x3fff };
  return null;
}

/**
 * Clears flags for removed chunks from an extended header, strips a frame, and returns any other chunk unchanged. Null if
 * it is damaged.
 */
function bareChunk({ type, data }: Chunk): Chunk | null {
  if (type === "VP8X") {
    const header = Buffer.from(data);
    header[0] = (header[0] as number) & ~EXIF_AND_XMP;
    return { type, data: header };
  }
  if (type !== "ANMF") return { type, data };
  if (data.length < FRAME_HEADER_BYTES) return null;
  const inner = chunksOf(data.subarray(FRAME_HEADER_BYTES));
  return inner === null
    ? null
    : {
        type,
        data: Buffer.concat([data.subarray(0, FRAME_HEADER_BYTES), ...inner.filter((chunk) => IN_A_FRAME.has(chunk.type)).map(written)]),
      };
}

/** Keeps only the chunks needed to draw, within the declared size. Null if the file is damaged. */
export function strippedWebp(file: Buffer): StrippedPicture | null {
  const end = HEADER_BYTES - 4 + file.readUInt32LE(4);
  const chunks = end < HEADER_BYTES || end > file.length ? null : chunksOf(file.subarray(HEADER_BYTES, end));
  const size = chunks?.[0] === undefined ? null : sizeOf(chunks[0]);
  if (chunks === null || size === null || !chunks.some(({ type }) => type === "VP8 " || type === "VP8L" || type === "ANMF")) return null;
  const kept: Buffer[] = [];
  for (const chunk of chunks) {
    if (!DRAWING.has(chunk.type)) continue;
    const bare = bareChunk(chunk);
    if (bare === null) return null;
    kept.push(written(bare));
  }
  const body = Buffer.concat(kept);
  const header = Buffer.from(file.subarray(0, HEADER_BYTES));
  header.writeUInt32LE(body.length + 4, 4);
  return { content: Buffer.concat([header, body]), ...size };
}
