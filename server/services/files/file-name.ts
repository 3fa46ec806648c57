import type { CallerFile } from "./caller.ts";

const ENDINGS: Readonly<Record<string, string>> = {
  "image/png": ".png",
  "image/jpeg": ".jpg",
  "image/webp": ".webp",
  "image/gif": ".gif",
  "image/avif": ".avif",
  "audio/mpeg": ".mp3",
  "audio/wav": ".wav",
  "audio/vnd.wave": ".wav",
  "audio/ogg": ".ogg",
  "audio/flac": ".flac",
  "audio/aac": ".aac",
  "audio/mp4": ".m4a",
  "audio/x-m4a": ".m4a",
  "video/mp4": ".mp4",
  "video/webm": ".webm",
  "application/pdf": ".pdf",
  "text/plain": ".txt",
};

/** The name for saving a file: its own, else its ID with an extension for its type. */
export function fileNameOf({ display_name: name, id, mime_type: type }: Pick<CallerFile, "display_name" | "id" | "mime_type">): string {
  return name ?? `${id}${ENDINGS[type] ?? ""}`;
}
