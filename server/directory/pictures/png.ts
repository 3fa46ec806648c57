import type { StrippedPicture } from "./bare-picture.ts";

const SIGNATURE_BYTES = 8;
/** Length, type and checksum of a chunk. */
const AROUND_DATA = 12;

/** Chunks with image data, colours, density and frames; text, times and camera data are dropped. */
const DRAWING = new Set([
  "IHDR",
  "PLTE",
  "IDAT",
  "IEND",
  "tRNS",
  "gAMA",
  "cHRM",
  "sRGB",
  "iCCP",
  "cICP",
  "sBIT",
  "bKGD",
  "pHYs",
  "acTL",
  "fcTL",
  "fdAT",
]);

/** Keeps only the chunks needed to draw, up to IEND. Null if the file is damaged. */
export function strippedPng(file: Buffer): StrippedPicture | null {
  const kept = [file.subarray(0, SIGNATURE_BYTES)];
  let size: { width: number; height: number } | null = null;
  let drawn = false;
  for (let at = SIGNATURE_BYTES; at + AROUND_DATA <= file.length;) {
    const length = file.readUInt32BE(at);
    const end = at + AROUND_DATA + length;
    const type = file.toString("latin1", at + 4, at + 8);
    if (end > file.length || !/^[A-Za-z]{4}$/.test(type)) return null;
    if (size === null) {
      if (type !== "IHDR" || length !== 13) return null;
      size = { width: file.readUInt32BE(at + 8), height: file.readUInt32BE(at + 12) };
    } else if (type === "IHDR") return null;
    if (type === "IDAT") drawn = true;
    if (DRAWING.has(type)) kept.push(file.subarray(at, end));
    if (type === "IEND") return drawn && length === 0 ? { content: Buffer.concat(kept), ...size } : null;
    at = end;
  }
  return null;
}
