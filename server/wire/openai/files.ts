import { ownEntry } from "../../kernel/collections/own-entry.ts";
import type { FilePart } from "../conversation/conversation-parts.ts";
import { fromBase64, isTextFile } from "../texts/text-file.ts";

/** Extensions that differ from the media type's subtype. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  "application/msword": "doc",
  "application/vnd.ms-excel": "xls",
  "application/vnd.ms-powerpoint": "ppt",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
  "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
};

/** OpenAI detects a file's type by its extension and refuses names without one; document titles in other formats have none. */
export function fileName({ name, mediaType }: FilePart): string {
  if (name !== null && /\.[a-z]\w{0,7}$/i.test(name)) return name;
  const type = mediaType?.split(";")[0]?.trim().toLowerCase() ?? "";
  return `${name ?? "document"}.${ownEntry(EXTENSIONS, type) ?? /^\w+\/(\w{1,8})$/.exec(type)?.[1] ?? "pdf"}`;
}

/** The source of a file. Text files become plain text headed by their name, because chat completions do not accept them as files. */
export function plainSource({ name, mediaType, source }: FilePart): FilePart["source"] {
  const text =
    "text" in source
      ? source.text
      : "base64" in source && isTextFile(mediaType ?? "", name)
        ? fromBase64(source.base64).toString("utf8")
        : null;
  if (text === null) return source;
  return { text: name === null ? text : `${name}:\n\n${text}` };
}
