import type { AudioPart, CacheHint, FilePart, ImagePart, TextPart } from "../../conversation/conversation-parts.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { sourceOfUrl } from "../data-url.ts";
import { filledOf, looseListOf, objectOf, stringOf } from "../loose-fields.ts";
import { NOT_ELSEWHERE, type ReadReport } from "../read-report.ts";

const PART_MEMBERS: ReadonlySet<string> = new Set([
  ...["type", "text", "image_url", "input_audio", "file"],
  ...["cache_control", "prompt_cache_breakpoint"],
]);

const MEDIA_MEMBERS: readonly (readonly [string, ReadonlySet<string>])[] = [
  ["image_url", new Set(["url", "detail"])],
  ["input_audio", new Set(["data", "format"])],
  ["file", new Set(["filename", "file_data", "file_id"])],
];

type ContentPart = TextPart | ImagePart | FilePart | AudioPart;

/** The parts of a user, system or tool message; `field` is the path of the content. */
export function contentParts(content: unknown, field: string, report: ReadReport): ContentPart[] {
  if (typeof content === "string") return content === "" ? [] : [{ kind: "text", text: content }];
  const parts: ContentPart[] = [];
  looseListOf(content).forEach((entry, i) => {
    if (typeof entry === "string") return void parts.push({ kind: "text", text: entry });
    const part = objectOf(entry);
    const read = part === null ? null : contentPart(part, `${field}[${i}]`, report);
    if (read !== null) parts.push(read);
  });
  return parts;
}

/** Only texts are accepted: anything else is refused. */
export function textParts(content: unknown, field: string, report: ReadReport): TextPart[] {
  const texts: TextPart[] = [];
  contentParts(content, field, report).forEach((part, i) => {
    if (part.kind === "text") texts.push(part);
    else report.refuse(`${field}[${i}]`, "must be a text here");
  });
  return texts;
}

function contentPart(part: JsonObject, field: string, report: ReadReport): ContentPart | null {
  const cache = cacheHint(part);
  const at = field.replaceAll(/\[\d+\]/g, "[]");
  report.dropOthers(part, PART_MEMBERS, `${at}.`);
  for (const [name, known] of MEDIA_MEMBERS) {
    const media = objectOf(part[name]);
    if (media !== null) report.dropOthers(media, known, `${at}.${name}.`);
  }
  switch (part.type) {
    case "text": {
      const text = stringOf(part.text);
      return text === null ? null : { kind: "text", text, ...cache };
    }
    case "image_url": {
      const image = objectOf(part.image_url);
      const url = filledOf(image?.url) ?? filledOf(part.image_url);
      const found = url === null ? null : sourceOfUrl(url);
      if (found === null) return refused(report, `${field}.image_url.url`, "must be a web address or base64 data");
      const detail = filledOf(image?.detail);
      return { kind: "image", ...found, ...(detail === null ? {} : { detail }), ...cache };
    }
    case "input_audio": {
      const audio = objectOf(part.input_audio);
      const base64 = filledOf(audio?.data);
      if (base64 === null) return refused(report, `${field}.input_audio.data`, "must be base64 data");
      return { kind: "audio", base64, mediaType: audio?.format === "mp3" ? "audio/mpeg" : `audio/${stringOf(audio?.format) ?? "wav"}` };
    }
    case "file": {
      const file = objectOf(part.file);
      const name = filledOf(file?.filename);
      const data = filledOf(file?.file_data);
      const fileId = filledOf(file?.file_id);
      if (data === null && fileId === null) return refused(report, `${field}.file`, "must hold `file_data` or `file_id`");
      if (data === null) return { kind: "file", source: { fileId: fileId as string }, mediaType: null, name, ...cache };
      const found = data.startsWith("data:") ? sourceOfUrl(data) : { source: { base64: data }, mediaType: null };
      return found === null
        ? refused(report, `${field}.file.file_data`, "must be base64 data")
        : { kind: "file", ...found, name, ...cache };
    }
    default:
      return refused(report, field, `${NOT_ELSEWHERE}: a part of type ${JSON.stringify(part.type)}`);
  }
}

/** OpenAI's own cache mark, or the one used by proxies for other vendors. */
export function cacheHint(part: JsonObject): { readonly cache?: CacheHint } {
  const control = objectOf(part.cache_control);
  if (control !== null) return { cache: { ttl: control.ttl === "1h" ? "1h" : "5m" } };
  return objectOf(part.prompt_cache_breakpoint) === null ? {} : { cache: { ttl: "5m" } };
}

function refused(report: ReadReport, field: string, message: string): null {
  report.refuse(field, message);
  return null;
}
