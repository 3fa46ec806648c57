import { deflateSync } from "node:zlib";

/** Images built byte by byte, with metadata around the image data. */

const bytes = (...parts: (string | readonly number[] | Uint8Array)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : Buffer.from(part))));

const u32 = (value: number) => [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255];

export function pngChunk(type: string, data: string | readonly number[] | Uint8Array): Buffer<ArrayBuffer> {
  const body = bytes(data);
  let crc = 0xffffffff;
  for (const byte of bytes(type, body)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return bytes(u32(body.length), type, body, u32((crc ^ 0xffffffff) >>> 0));
}

/** A black 8-bit grayscale PNG. `around` precedes the image data. */
export function png(
  options: { width?: number; height?: number; around?: Uint8Array; after?: Uint8Array | string } = {},
): Buffer<ArrayBuffer> {
  const { width = 1, height = 1, around = new Uint8Array(0), after = "" } = options;
  return bytes(
    "\x89PNG\r\n\x1a\n",
    pngChunk("IHDR", [...u32(width), ...u32(height), 8, 0, 0, 0, 0]),
    around,
    pngChunk("IDAT", deflateSync(Buffer.alloc(2))),
    pngChunk("IEND", ""),
    after,
  );
}

export function jpegSegment(marker: number, data: string | readonly number[] | Uint8Array): Buffer<ArrayBuffer> {
  const body = bytes(data);
  return bytes([0xff, marker, (body.length + 2) >> 8, (body.length + 2) & 255], body);
}

/** EXIF data with an orientation and a location in the northern hemisphere. `order` is the byte order. */
export function exif(orientation: number, order: "II" | "MM" = "II"): Buffer<ArrayBuffer> {
  const short = (value: number) => (order === "II" ? [value & 255, value >> 8] : [value >> 8, value & 255]);
  const long = (value: number) => (order === "II" ? u32(value).toReversed() : u32(value));
  const entry = (tag: number, type: number, value: readonly number[]) => [...short(tag), ...short(type), ...long(1), ...value, 0, 0];
  return bytes(
    "Exif\0\0",
    order,
    short(42),
    long(8),
    short(2),
    entry(0x0112, 3, short(orientation)),
    entry(0x8825, 3, short(38)),
    long(0),
    "N 52.5200 E 13.4050",
  );
}

/** A JPEG with one scan that contains stuffed bytes and a restart marker; it does not decode. */
export function jpeg(
  options: { width?: number; height?: number; around?: Uint8Array; after?: Uint8Array | string } = {},
): Buffer<ArrayBuffer> {
  const { width = 1, height = 1, around = new Uint8Array(0), after = "" } = options;
  const frame = jpegSegment(0xc0, [8, height >> 8, height & 255, width >> 8, width & 255, 1, 1, 0x11, 0]);
  return bytes(
    [0xff, 0xd8],
    around,
    jpegSegment(0xdb, Buffer.alloc(65, 1)),
    frame,
    jpegSegment(0xc4, Buffer.alloc(18)),
    jpegSegment(0xda, [1, 1, 0, 0, 63, 0]),
    [0x12, 0xff, 0x00, 0x34, 0xff, 0xd0, 0x56],
    [0xff, 0xd9],
    after,
  );
}

/** A GIF of one pixel, with a graphic control extension. */
export function gif(options: { around?: Uint8Array; after?: Uint8Array | string } = {}): Buffer<ArrayBuffer> {
  const { around = new Uint8Array(0), after = "" } = options;
  return bytes(
    "GIF89a",
    [1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255],
    around,
    [0x21, 0xf9, 4, 0, 0, 0, 0, 0],
    [0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0],
    [0x3b],
    after,
  );
}

export function webpChunk(type: string, data: string | readonly number[] | Uint8Array): Buffer<ArrayBuffer> {
  const body = bytes(data);
  return bytes(type, u32(body.length).toReversed(), body, body.length & 1 ? [0] : []);
}

const LOSSLESS = [0x2f, 0, 0, 0, 0x10, 7, 0x10, 0x11, 0x11, 0x88, 0x88, 0xfe, 7];

/** A WebP of one pixel with an extended header and these flags; `around` follows the image data. */
export function webp(options: { flags?: number; around?: Uint8Array; after?: Uint8Array | string } = {}): Buffer<ArrayBuffer> {
  const { flags = 0, around = new Uint8Array(0), after = "" } = options;
  const body = bytes("WEBP", webpChunk("VP8X", [flags, 0, 0, 0, 0, 0, 0, 0, 0, 0]), webpChunk("VP8L", LOSSLESS), around);
  return bytes("RIFF", u32(body.length).toReversed(), body, after);
}

/** An animated WebP. */
export function animatedWebp(inFrame: Uint8Array): Buffer<ArrayBuffer> {
  const body = bytes(
    "WEBP",
    webpChunk("VP8X", [2, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
    webpChunk("ANIM", Buffer.alloc(6)),
    webpChunk("ANMF", bytes(Buffer.alloc(16), webpChunk("VP8L", LOSSLESS), inFrame)),
  );
  return bytes("RIFF", u32(body.length).toReversed(), body);
}
