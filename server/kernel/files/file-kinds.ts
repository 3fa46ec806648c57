import { fileTypeFromBuffer } from "file-type";
import { isUtf8Text } from "../text/utf8-text.ts";

export const FILE_KINDS = ["image", "audio", "video", "document", "batch_input", "batch_output", "other"] as const;
export type FileKind = (typeof FILE_KINDS)[number];

const MB = 1024 * 1024;
export const MOST_BYTES = 256 * MB;
const CAPS: Readonly<Record<FileKind, number>> = {
  image: 50 * MB,
  audio: 100 * MB,
  video: MOST_BYTES,
  document: 100 * MB,
  batch_input: MOST_BYTES,
  batch_output: MOST_BYTES,
  other: MOST_BYTES,
};

/** `lowered`: what a tenant allows of each kind, MiB. */
export function capOf(kind: FileKind | null, lowered: Readonly<Record<string, number | null | undefined>> = {}): number {
  if (kind === null) return MOST_BYTES;
  const own = lowered[`${kind}_mb`] ?? null;
  return own === null ? CAPS[kind] : Math.min(CAPS[kind], own * MB);
}

export function isFileKind(text: string): text is FileKind {
  return FILE_KINDS.some((kind) => kind === text);
}

/** What the types of media are looked for in: the first bytes of a file. */
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
/** Containers that hold sound, pictures that move or both, and do not say in their first bytes. */
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

/** The type that the bytes themselves have. Text of every language, marked up or not, is plain text: so it does no harm anywhere. */
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

/** The kind of a file whose caller names none, by its type. */
export function kindOfType(mime: string): FileKind {
  return (["image", "audio", "video", "document"] as const).find((kind) => fitsKind(mime, kind)) ?? "other";
}

/** Shown in place by a browser; everything else is only saved. */
export function isShown(mime: string): boolean {
  return IMAGES.has(mime) || mime.startsWith("audio/") || mime.startsWith("video/");
}
