import type { AudioPart, FilePart, ImagePart, MediaSource } from "../conversation/conversation-parts.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import type { RequestReport } from "./request-report.ts";

const IMAGES: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpeg",
  "image/jpg": "jpeg",
  "image/gif": "gif",
  "image/webp": "webp",
};

/** The first bytes of each image format, in base64. */
const IMAGE_STARTS = [
  ["iVBORw0KGgo", "png"],
  ["/9j/", "jpeg"],
  ["R0lGOD", "gif"],
  ["UklGR", "webp"],
] as const;

const DOCUMENTS: Readonly<Record<string, string>> = {
  "application/pdf": "pdf",
  "text/csv": "csv",
  "application/msword": "doc",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
  "application/vnd.ms-excel": "xls",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
  "text/html": "html",
  "text/plain": "txt",
  "text/markdown": "md",
};

const EXTENSIONS: ReadonlySet<string> = new Set(Object.values(DOCUMENTS));

const AUDIO: Readonly<Record<string, string>> = {
  "audio/wav": "wav",
  "audio/x-wav": "wav",
  "audio/wave": "wav",
  "audio/mpeg": "mp3",
  "audio/mp3": "mp3",
  "audio/flac": "flac",
  "audio/ogg": "ogg",
  "audio/opus": "opus",
  "audio/aac": "aac",
  "audio/webm": "webm",
  "audio/mp4": "mp4",
  "audio/m4a": "m4a",
  "audio/pcm": "pcm",
};

/** Null if the image cannot be sent; the report has the reason. */
export function converseImageBlock({ source, mediaType }: ImagePart, report: RequestReport): JsonObject | null {
  const written = sourceOf(source, "image", report);
  if (written === null) return null;
  const format = formatFor(IMAGES, mediaType) ?? imageFormat(source);
  if (format === null) {
    report.refuse(
      "image",
      `this model's provider takes images as PNG, JPEG, GIF or WebP${mediaType === null ? "" : `, not as ${mediaType}`}`,
    );
    return null;
  }
  return { image: { format, source: written } };
}

function imageFormat(source: MediaSource): string | null {
  if ("base64" in source) return IMAGE_STARTS.find(([start]) => source.base64.startsWith(start))?.[1] ?? null;
  const extension = "url" in source ? /\.(\w+)$/.exec(source.url)?.[1]?.toLowerCase() : undefined;
  return formatFor(IMAGES, extension === undefined ? null : `image/${extension}`);
}

/**
 * Null if the file cannot be sent; the report has the reason. `names` holds the names of the request's documents so far,
 * which must be unique, each with the last number used to distinguish it.
 */
export function converseDocumentBlock(file: FilePart, names: Map<string, number>, report: RequestReport): JsonObject | null {
  const { source, mediaType, name } = file;
  const written = "text" in source ? { bytes: Buffer.from(source.text, "utf8").toString("base64") } : sourceOf(source, "file", report);
  if (written === null) return null;
  const format =
    formatFor(DOCUMENTS, mediaType) ?? formatOfName(name) ?? ("text" in source ? "txt" : "url" in source ? formatOfName(source.url) : null);
  if (format === null) {
    report.refuse(
      "file",
      `this model's provider takes documents as ${[...EXTENSIONS].join(", ")}${mediaType === null ? "" : `, not as ${mediaType}`}`,
    );
    return null;
  }
  return {
    document: { format, name: documentName(name, names), source: written, ...(file.cited === true && { citations: { enabled: true } }) },
  };
}

function formatOfName(name: string | null): string | null {
  const extension = name === null ? undefined : /\.(\w+)$/.exec(name)?.[1]?.toLowerCase();
  if (extension === "htm") return "html";
  return extension !== undefined && EXTENSIONS.has(extension) ? extension : null;
}

/** Bedrock accepts only letters, digits, single spaces, hyphens, parentheses and square brackets. */
function documentName(name: string | null, names: Map<string, number>): string {
  const base =
    (name ?? "")
      .replace(/\.\w+$/, "")
      .replace(/[^A-Za-z0-9\-()[\]]+/g, " ")
      .trim()
      .slice(0, 180) || "document";
  let unique = base;
  let again = names.get(base) ?? 1;
  while (names.has(unique)) unique = `${base} (${++again})`;
  names.set(unique, 1).set(base, again);
  return unique;
}

export function converseAudioBlock({ base64, mediaType }: AudioPart, report: RequestReport): JsonObject | null {
  const format = formatFor(AUDIO, mediaType);
  if (format === null) {
    report.refuse("audio", `this model's provider does not take audio as ${mediaType}`);
    return null;
  }
  return { audio: { format, source: { bytes: base64 } } };
}

function sourceOf(source: MediaSource, feature: "image" | "file", report: RequestReport): JsonObject | null {
  if ("base64" in source) return { bytes: source.base64 };
  if ("url" in source && source.url.startsWith("s3://")) return { s3Location: { uri: source.url } };
  report.refuse(
    feature,
    `this model's provider takes ${feature === "image" ? "an image" : "a document"} as base64 data or as an s3:// address, ` +
      `not ${"url" in source ? "from the web" : "by a file id"}`,
  );
  return null;
}

function formatFor(table: Readonly<Record<string, string>>, mediaType: string | null): string | null {
  const name = mediaType?.split(";")[0]?.trim().toLowerCase() ?? "";
  return Object.hasOwn(table, name) ? (table[name] as string) : null;
}
