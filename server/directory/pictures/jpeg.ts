import type { StrippedPicture } from "./bare-picture.ts";

const START = 0xd8;
const END = 0xd9;
const SCAN = 0xda;
const APP0 = 0xe0;
const APP1 = 0xe1;
const APP2 = 0xe2;
const APP14 = 0xee;
const COMMENT = 0xfe;
const JFIF_BYTES = 14;
const ADOBE_BYTES = 12;

/** Segments needed to draw: C0 to CF except the reserved C8, and DB to DF. */
const draws = (marker: number) => (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc8) || (marker >= 0xdb && marker <= 0xdf);
/** Whether it is a frame header; of the same range, C4, C8 and CC are not. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;

function segment(marker: number, data: Buffer): Buffer {
  const header = Buffer.from([0xff, marker, 0, 0]);
  header.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([header, data]);
}

/** The end of the compressed data that begins at `at`: the next marker that does not belong to it. */
function scanEnd(file: Buffer, at: number): number {
  let here = at;
  for (;;) {
    here = file.indexOf(0xff, here);
    if (here < 0) return file.length;
    const next = file[here + 1];
    // FF followed by 0 is data, by D0 to D7 a restart marker, by FF padding.
    if (next === undefined || !(next === 0 || (next >= 0xd0 && next <= 0xd7) || next === 0xff)) return here;
    here += next === 0xff ? 1 : 2;
  }
}

/** The orientation of the camera; only 2 to 8 require a change. */
function orientationOf(exif: Buffer): number | null {
  const tiff = exif.subarray(6);
  const little = tiff.toString("latin1", 0, 4) === "II*\0";
  if (!little && tiff.toString("latin1", 0, 4) !== "MM\0*") return null;
  const short = (at: number) => (at + 2 > tiff.length ? 0 : little ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const first = tiff.length < 8 ? 0 : little ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  for (let entry = 0; entry < short(first); entry++) {
    const at = first + 2 + 12 * entry;
    if (at + 12 > tiff.length) return null;
    if (short(at) === 0x0112) return short(at + 8) >= 2 && short(at + 8) <= 8 ? short(at + 8) : null;
  }
  return null;
}

/** An Exif segment with nothing but the orientation. */
function orientationOnly(orientation: number): Buffer {
  const tiff = Buffer.from("MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\0\0\0\0\0\0\0", "latin1");
  tiff.writeUInt16BE(orientation, 18);
  return segment(APP1, Buffer.concat([Buffer.from("Exif\0\0", "latin1"), tiff]));
}

/** The part of an application segment to keep; null if none. */
function bareApplication(marker: number, data: Buffer): Buffer | null {
  const named = (name: string) => data.toString("latin1", 0, name.length) === name;
  if (marker === APP0 && named("JFIF\0") && data.length >= JFIF_BYTES) {
    // Drops an embedded thumbnail.
    const header = Buffer.from(data.subarray(0, JFIF_BYTES));
    header.fill(0, 12, 14);
    return segment(marker, header);
  }
  if (marker === APP1 && named("Exif\0\0")) {
    const orientation = orientationOf(data);
    return orientation === null ? null : orientationOnly(orientation);
  }
  if (marker === APP2 && named("ICC_PROFILE\0")) return segment(marker, data);
  if (marker === APP14 && named("Adobe") && data.length >= ADOBE_BYTES) return segment(marker, data.subarray(0, ADOBE_BYTES));
  return null;
}

/** Keeps only image data, colour information and orientation, up to the end marker. Null if the file is damaged. */
export function strippedJpeg(file: Buffer): StrippedPicture | null {
  const kept: Buffer[] = [Buffer.from([0xff, START])];
  let size: { width: number; height: number } | null = null;
  let drawn = false;
  for (let at = 2; at + 2 <= file.length;) {
    if (file[at] !== 0xff) return null;
    const marker = file[at + 1] as number;
    if (marker === 0xff) {
      at++;
      continue;
    }
    if (marker === END) {
      if (size === null || !drawn) return null;
      kept.push(Buffer.from([0xff, END]));
      return { content: Buffer.concat(kept), ...size };
    }
    if (at + 4 > file.length) return null;
    let end = at + 2 + file.readUInt16BE(at + 2);
    if (end < at + 4 || end > file.length) return null;
    const data = file.subarray(at + 4, end);
    if (marker === SCAN) {
      if (size === null) return null;
      end = scanEnd(file, end);
      kept.push(file.subarray(at, end));
      drawn = true;
    } else if (draws(marker)) {
      if (isFrame(marker)) {
        if (size !== null || data.length < 6) return null;
        size = { height: data.readUInt16BE(1), width: data.readUInt16BE(3) };
      }
      kept.push(segment(marker, data));
    } else if (marker >= APP0 && marker <= 0xef) {
      const bare = bareApplication(marker, data);
      if (bare !== null) kept.push(bare);
    } else if (marker !== COMMENT) return null;
    at = end;
  }
  return null;
}
