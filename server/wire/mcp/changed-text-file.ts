import { base64Readers, isReadAsText } from "../texts/text-file.ts";

/** The base64 text file with `change` applied to each of its possible decodings; null if unchanged or not text. */
export function changedTextFile(encoded: string, change: (text: string) => string): string | null {
  let changed: string | null = null;
  if (!isReadAsText("", null, encoded)) return null;
  for (const read of base64Readers(encoded)) {
    const text = read(encoded).toString("utf8");
    const changedText = change(text);
    if (changedText !== text) changed = Buffer.from(changedText).toString("base64");
  }
  return changed;
}
