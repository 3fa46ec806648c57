import type { FilePart, ImagePart, TextPart } from "../conversation/conversation-parts.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { cacheHint } from "../openai/chat/content-reader.ts";
import { sourceOfUrl } from "../openai/data-url.ts";
import { filledOf, objectsOf, stringOf } from "../openai/loose-fields.ts";
import { NOT_ELSEWHERE, type ReadReport } from "../openai/read-report.ts";

const PART_MEMBERS: ReadonlySet<string> = new Set([
  ...["type", "text", "image_url", "file_id", "detail", "file_data", "file_url", "filename"],
  ...["cache_control", "prompt_cache_breakpoint"],
]);

type InputPart = TextPart | ImagePart | FilePart;

/** Reads the content of a message or of a tool's output; `field` is its path. */
export function inputParts(content: unknown, field: string, report: ReadReport): InputPart[] {
  if (typeof content === "string") return content === "" ? [] : [{ kind: "text", text: content }];
  const parts: InputPart[] = [];
  for (const [part, i] of objectsOf(content)) {
    const read = inputPart(part, `${field}[${i}]`, report);
    if (read !== null) parts.push(read);
  }
  return parts;
}

function inputPart(part: JsonObject, field: string, report: ReadReport): InputPart | null {
  const cache = cacheHint(part);
  report.dropOthers(part, PART_MEMBERS, field.replaceAll(/\[\d+\]/g, "[]") + ".");
  switch (part.type) {
    case "input_text":
    case "output_text":
    case "text": {
      const text = stringOf(part.text);
      return text === null ? null : { kind: "text", text, ...cache };
    }
    case "input_image": {
      const url = filledOf(part.image_url);
      const fileId = filledOf(part.file_id);
      const found = url !== null ? sourceOfUrl(url) : fileId !== null ? { source: { fileId }, mediaType: null } : null;
      if (found === null) return refused(report, `${field}.image_url`, "must be a web address or base64 data");
      const detail = filledOf(part.detail);
      return { kind: "image", ...found, ...(detail === null || detail === "auto" ? {} : { detail }), ...cache };
    }
    case "input_file": {
      const found = fileSource(part);
      return found === null
        ? refused(report, field, "must hold `file_data`, `file_url` or `file_id`")
        : { kind: "file", ...found, name: filledOf(part.filename), ...cache };
    }
    default:
      return refused(report, field, `${NOT_ELSEWHERE}: a part of type ${JSON.stringify(part.type ?? null)}`);
  }
}

function fileSource(part: JsonObject): Pick<FilePart, "source" | "mediaType"> | null {
  const data = filledOf(part.file_data);
  if (data !== null) return data.startsWith("data:") ? sourceOfUrl(data) : { source: { base64: data }, mediaType: null };
  const url = filledOf(part.file_url);
  if (url !== null) return { source: { url }, mediaType: null };
  const fileId = filledOf(part.file_id);
  return fileId === null ? null : { source: { fileId }, mediaType: null };
}

function refused(report: ReadReport, field: string, message: string): null {
  report.refuse(field, message);
  return null;
}
