import type { MediaFile } from "../../kernel/files/media-file.ts";
import type { TextSlot } from "../inbound.ts";

/** A file that goes on with a call, in a part of its form. */
export interface SentFile {
  readonly field: string;
  readonly file: MediaFile;
  /** As it is called there. */
  name: string;
}

/** Vendors tell by it what the bytes are, so a name that is said differently still ends in it. */
const ENDING = /\.(?:aac|flac|m4a|mp3|mp4|mpeg|mpga|oga|ogg|opus|wav|webm|avif|gif|jpe?g|png|webp)$/i;

export const sentFile = (field: string, file: MediaFile): SentFile => ({ field, file, name: file.name });

/** What files are called: their names go to the vendor with them. */
export function sentNames(files: readonly SentFile[]): TextSlot[] {
  return files.flatMap((sent): TextSlot[] => {
    const { name: text } = sent;
    if (text === "") return [];
    const ending = ENDING.exec(text)?.[0] ?? "";
    return [{ role: "user", kind: "name", text, replace: (next) => void (sent.name = next.endsWith(ending) ? next : `${next}${ending}`) }];
  });
}
