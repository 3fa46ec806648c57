import type { MediaFile } from "../../kernel/files/media-file.ts";
import type { TextSlot } from "../inbound.ts";

/** A file forwarded with a call, as a part of its form. */
export interface SentFile {
  readonly field: string;
  readonly file: MediaFile;
  /** The file name sent to the vendor. */
  name: string;
}

/** Vendors infer the file type from the extension, so a replaced name keeps it. */
const ENDING = /\.(?:aac|flac|m4a|mp3|mp4|mpeg|mpga|oga|ogg|opus|wav|webm|avif|gif|jpe?g|png|webp)$/i;

export const sentFile = (field: string, file: MediaFile): SentFile => ({ field, file, name: file.name });

/** The file names as texts, because they are sent to the vendor. */
export function sentNames(files: readonly SentFile[]): TextSlot[] {
  return files.flatMap((sent): TextSlot[] => {
    const { name: text } = sent;
    if (text === "") return [];
    const ending = ENDING.exec(text)?.[0] ?? "";
    return [{ role: "user", kind: "name", text, replace: (next) => void (sent.name = next.endsWith(ending) ? next : `${next}${ending}`) }];
  });
}
