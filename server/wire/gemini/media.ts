import type { AudioPart, FilePart, ImagePart } from "../conversation/conversation-parts.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { objectIn, textIn } from "./members.ts";

/** The base64 prefixes of file types. */
const MAGIC: readonly (readonly [string, string])[] = [
  ["iVBORw0KGgo", "image/png"],
  ["/9j/", "image/jpeg"],
  ["R0lGOD", "image/gif"],
  ["UklGR", "image/webp"],
  ["JVBERi", "application/pdf"],
];

/** Locations from which other providers cannot fetch a file. */
const PRIVATE_PLACE = /^gs:|^https:\/\/generativelanguage\.googleapis\.com\/|^[^:]*$/;

/** The media of a part; null if it has none that can be read, "private" if only Google can fetch it. */
export function readMedia(part: JsonObject): ImagePart | FilePart | AudioPart | "private" | null {
  const inline = objectIn(part, "inlineData");
  if (inline !== null) {
    const data = textIn(inline, "data");
    if (data === null) return null;
    const base64 = ordinaryBase64(data);
    const mediaType = textIn(inline, "mimeType") ?? sniffed(base64);
    if (mediaType?.startsWith("image/")) return { kind: "image", source: { base64 }, mediaType };
    if (mediaType?.startsWith("audio/")) return { kind: "audio", base64, mediaType };
    return { kind: "file", source: { base64 }, mediaType, name: textIn(inline, "displayName") };
  }
  const file = objectIn(part, "fileData");
  const url = file === null ? null : textIn(file, "fileUri");
  if (file === null || url === null) return null;
  if (PRIVATE_PLACE.test(url)) return "private";
  const mediaType = textIn(file, "mimeType");
  if (mediaType?.startsWith("image/")) return { kind: "image", source: { url }, mediaType };
  return { kind: "file", source: { url }, mediaType, name: textIn(file, "displayName") };
}

/** Converts URL-safe base64, which Google accepts and its Python client sends, to the standard alphabet that other providers require. */
function ordinaryBase64(data: string): string {
  const ordinary = data.replaceAll("-", "+").replaceAll("_", "/");
  return ordinary.padEnd(Math.ceil(ordinary.length / 4) * 4, "=");
}

/** Writes an image, file or audio part; null if its file is stored at another provider. */
export function writeMedia(part: ImagePart | FilePart | AudioPart): JsonObject | null {
  if (part.kind === "audio") return { inlineData: { mimeType: part.mediaType, data: part.base64 } };
  const { source } = part;
  if ("base64" in source) {
    const fallback = part.kind === "image" ? "image/jpeg" : "application/octet-stream";
    return { inlineData: { mimeType: part.mediaType ?? sniffed(source.base64) ?? fallback, data: source.base64 } };
  }
  if ("url" in source) return { fileData: { ...(part.mediaType !== null && { mimeType: part.mediaType }), fileUri: source.url } };
  if ("text" in source)
    return { inlineData: { mimeType: part.mediaType ?? "text/plain", data: Buffer.from(source.text, "utf8").toString("base64") } };
  return null;
}

function sniffed(base64: string): string | null {
  return MAGIC.find(([start]) => base64.startsWith(start))?.[1] ?? null;
}
