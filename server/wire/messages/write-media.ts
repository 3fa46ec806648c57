import type { FilePart, ImagePart } from "../conversation/conversation-parts.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { fromBase64 } from "../texts/text-file.ts";

const IMAGE_TYPES: ReadonlySet<string> = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);

/** The base64 prefixes of file types. */
const BEGINNINGS: readonly (readonly [string, string])[] = [
  ["/9j/", "image/jpeg"],
  ["iVBORw0KGgo", "image/png"],
  ["R0lGOD", "image/gif"],
  ["UklGR", "image/webp"],
  ["JVBERi0", "application/pdf"],
];

/** Uploaded files exist only at their provider; this is the form of the vendor's own file IDs. */
const OWN_FILE = /^file_/;
const DATA_URL = /^data:([^;,]+)?(?:;[^,]*?)?;base64,(.*)$/is;

/** A block, or the reason why the part cannot be sent. */
export type Written = JsonObject | { readonly problem: string };

export function isProblem(written: Written): written is { readonly problem: string } {
  return typeof written.problem === "string";
}

export function messagesImageBlock(part: ImagePart): Written {
  const { source } = part;
  if ("fileId" in source) return fileReference("image", source.fileId);
  const data = "url" in source ? DATA_URL.exec(source.url) : null;
  if ("url" in source && data === null) return { type: "image", source: { type: "url", url: source.url } };
  const base64 = "base64" in source ? source.base64 : (data?.[2] ?? "");
  const type = imageType(part.mediaType ?? data?.[1] ?? beginning(base64));
  if (type === null || !IMAGE_TYPES.has(type)) return { problem: "images must be JPEG, PNG, GIF or WebP" };
  return { type: "image", source: { type: "base64", media_type: type, data: base64 } };
}

function imageType(type: string | null): string | null {
  const lower = type?.toLowerCase() ?? null;
  return lower === "image/jpg" ? "image/jpeg" : lower;
}

export function messagesDocumentBlock(part: FilePart): Written {
  const block = (source: JsonObject): JsonObject => ({
    ...{ type: "document", source, ...(part.name === null ? {} : { title: part.name }) },
    ...(part.cited === true && { citations: { enabled: true } }),
  });
  const { source } = part;
  if ("text" in source) return block({ type: "text", media_type: "text/plain", data: source.text });
  if ("fileId" in source) {
    const reference = fileReference("document", source.fileId);
    return isProblem(reference) ? reference : block(reference.source as JsonObject);
  }
  const data = "url" in source ? DATA_URL.exec(source.url) : null;
  const named = part.name?.toLowerCase().endsWith(".pdf") === true ? "application/pdf" : null;
  if ("url" in source && data === null) {
    return part.mediaType === null || part.mediaType === "application/pdf"
      ? block({ type: "url", url: source.url })
      : { problem: "files given by URL must be PDF" };
  }
  const base64 = "base64" in source ? source.base64 : (data?.[2] ?? "");
  const type = (part.mediaType ?? data?.[1] ?? beginning(base64) ?? named)?.toLowerCase() ?? "";
  if (type === "application/pdf") return block({ type: "base64", media_type: type, data: base64 });
  if (type.startsWith("text/") || type === "application/json") {
    return block({ type: "text", media_type: "text/plain", data: fromBase64(base64).toString("utf8") });
  }
  return { problem: "files must be PDF or plain text" };
}

function fileReference(type: string, id: string): Written {
  return OWN_FILE.test(id)
    ? { type, source: { type: "file", file_id: id } }
    : { problem: "a file id means nothing to a provider the file was not uploaded to: send the content itself" };
}

function beginning(base64: string): string | null {
  return BEGINNINGS.find(([start]) => base64.startsWith(start))?.[1] ?? null;
}
