import { fileTypeFromBuffer } from "file-type";
import { isUtf8Text } from "../text/utf8-text.ts";

export const FILE_KINDS = ["image", "audio", "video", "document", "batch_input", "batch_output", "other"] as const;
export type FileKind = (typeof FILE_KINDS)[number];

const MB = 1024 * 1024;
export const MAX_BYTES = 256 * MB;
const CAPS: Readonly<Record<FileKind, number>> = {
  image: 50 * MB,
  audio: 100 * MB,
  video: MAX_BYTES,
  document: 100 * MB,
  batch_input: MAX_BYTES,
  batch_output: MAX_BYTES,
  other: MAX_BYTES,
};

/** In bytes. `lowered`: the tenant's own limits by kind, in MiB. */
export function capOf(kind: FileKind | null, lowered: Readonly<Record<string, number | null | undefined>> = {}): number {
  if (kind === null) return MAX_BYTES;
  const own = lowered[`${kind}_mb`] ?? null;
  return own === null ? CAPS[kind] : Math.min(CAPS[kind], own * MB);
}

export function isFileKind(text: string): text is FileKind {
  return FILE_KINDS.some((kind) => kind === text);
}

/** The first bytes of a file, from which its media type is detected. */
export const HEAD_BYTES = 4_100;

const IMAGES = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "image/avif",
  "image/heic",
  "image/heif",
  "image/bmp",
  "image/tiff",
]);
/** Containers that hold audio, video or both; their first bytes do not say which. */
const EITHER = new Set([
  "video/webm",
  "video/mp4",
  "audio/mp4",
  "audio/x-m4a",
  "application/ogg",
  "audio/ogg",
  "video/ogg",
  "video/quicktime",
]);
const DOCUMENTS = new Set(["application/pdf", "application/rtf", "application/epub+zip", "application/x-cfb", "application/xml"]);

/** The media type detected from the bytes. Text in any language or markup is plain text, which is harmless everywhere. */
export async function typeOfBytes(head: Uint8Array, isWhole: boolean): Promise<string> {
  const found = await fileTypeFromBuffer(head).catch(() => undefined);
  if (found !== undefined && found.mime !== "application/xml") return found.mime;
  return isUtf8Text(head, isWhole) ? "text/plain" : "application/octet-stream";
}

export function fitsKind(mime: string, kind: FileKind): boolean {
  switch (kind) {
    case "image":
      return IMAGES.has(mime);
    case "audio":
      return mime.startsWith("audio/") || EITHER.has(mime);
    case "video":
      return mime.startsWith("video/") || EITHER.has(mime);
    case "document":
      return mime === "text/plain" || DOCUMENTS.has(mime) || mime.startsWith("application/vnd.");
    case "batch_input":
    case "batch_output":
      return mime === "text/plain";
    case "other":
      return true;
  }
}

/** The kind of a file by its media type, if the caller names none. */
export function kindOfType(mime: string): FileKind {
  return (["image", "audio", "video", "document"] as const).find((kind) => fitsKind(mime, kind)) ?? "other";
}

/** Whether browsers may display it inline; everything else is only downloaded. */
export function isShown(mime: string): boolean {
  return IMAGES.has(mime) || mime.startsWith("audio/") || mime.startsWith("video/");
}
