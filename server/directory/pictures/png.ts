import type { StrippedPicture } from "./bare-picture.ts";

const SIGNATURE_BYTES = 8;
/** Length, type and checksum around the data of a chunk. */
const AROUND_DATA = 12;

/** What is drawn, its colours, its density and its frames. Text, times and camera data are none of these. */
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

/** A PNG of only the chunks that draw it, up to its end. */
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
