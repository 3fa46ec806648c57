import type { StrippedPicture } from "./bare-picture.ts";
import { strippedGif } from "./gif.ts";
import { strippedJpeg } from "./jpeg.ts";
import { strippedPng } from "./png.ts";
import { strippedWebp } from "./webp.ts";

/** Returns null for a damaged file; nothing is repaired. */
type Reduce = (file: Buffer) => StrippedPicture | null;

export type PictureType = "image/jpeg" | "image/png" | "image/webp" | "image/gif";

const REDUCERS: Readonly<Record<PictureType, Reduce>> = {
  "image/jpeg": strippedJpeg,
  "image/png": strippedPng,
  "image/webp": strippedWebp,
  "image/gif": strippedGif,
};
const NAMES: Readonly<Record<PictureType, string>> = { "image/jpeg": "JPEG", "image/png": "PNG", "image/webp": "WebP", "image/gif": "GIF" };
/** A file of a few kilobytes can claim dimensions that take gigabytes to draw. */
const MAX_PIXELS = 50_000_000;

const starts = (bytes: Uint8Array, at: number, text: string) => text === String.fromCharCode(...bytes.subarray(at, at + text.length));

/** The picture type by its first bytes, whatever it was declared as; null if it is none of these. */
export function pictureType(bytes: Uint8Array): PictureType | null {
  if (bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff) return "image/jpeg";
  if (starts(bytes, 0, "\x89PNG\r\n\x1a\n")) return "image/png";
  if (starts(bytes, 0, "RIFF") && starts(bytes, 8, "WEBP")) return "image/webp";
  if (starts(bytes, 0, "GIF87a") || starts(bytes, 0, "GIF89a")) return "image/gif";
  return null;
}

/**
 * Strips metadata and anything else that is not needed to draw the picture: locations, times, comments, previews, trailing
 * data. Image data is copied without decoding. `fault` is worded as a predicate of the field.
 */
export function strippedPicture(bytes: Uint8Array): { readonly type: PictureType; readonly content: Buffer } | { readonly fault: string } {
  const type = pictureType(bytes);
  if (type === null) return { fault: "is no JPEG, PNG, WebP or GIF image" };
  const bare = REDUCERS[type](Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  if (bare === null || bare.width === 0 || bare.height === 0) return { fault: `is a damaged ${NAMES[type]} image` };
  if (bare.width * bare.height > MAX_PIXELS)
    return { fault: `has ${bare.width} × ${bare.height} pixels, and at most ${MAX_PIXELS / 1_000_000} million are taken` };
  return { type, content: bare.content };
}
