import type { CitedPassage, ContentsList } from "../texts/answer-texts.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { ANNOTATION_UNIT } from "./annotations.ts";
import { objectOf, objectsOf } from "./loose-fields.ts";

/** The members in which an annotation has its citation, by its type; otherwise it is in the annotation itself. */
const HOLDERS = ["url_citation", "file_citation", "container_file_citation"] as const;
/** In a file's path `index` is no position. */
const POSITIONS = [
  ["start_index", "end_index"],
  ["index", "index"],
] as const;
const WORDS = ["title", "text", "content", "quote"] as const;

/** The text in which annotations have positions. */
export type AnnotatedText = Pick<CitedPassage, "channel" | "places">;

/** The cited texts and passages of each annotation in a list. */
export function annotationsTexts(holder: JsonObject, contents: ContentsList, text: AnnotatedText): void {
  for (const [annotation] of objectsOf(holder.annotations)) annotationTexts(annotation, contents, text);
}

/** Members with text that servers add to a message about their searches and tools, without URLs and IDs. */
const FINDINGS: ReadonlySet<string> = new Set([...WORDS, "snippet", "intent", "arguments", "output"]);
const MAX_DEPTH = 8;

/** The texts of `holder[key]`, in which a server reports the sources of an answer. */
export function findingTexts(holder: JsonObject, key: string, contents: ContentsList, depth = 0): void {
  const value = holder[key];
  if (typeof value === "string" && FINDINGS.has(key))
    contents.whole(holder, key, key === "arguments" || key === "intent" ? "arguments" : "text");
  if (depth > MAX_DEPTH) return;
  for (const [inner] of objectsOf(Array.isArray(value) ? value : [value]))
    for (const name of Object.keys(inner)) findingTexts(inner, name, contents, depth + 1);
}

export function annotationTexts(annotation: JsonObject, contents: ContentsList, text: AnnotatedText): void {
  for (const holder of [annotation, ...HOLDERS.map((name) => objectOf(annotation[name]))]) {
    if (holder === null) continue;
    for (const name of WORDS) contents.whole(holder, name);
    for (const [start, end] of annotation.type === "file_path" ? [] : POSITIONS)
      if (typeof holder[start] === "number" && typeof holder[end] === "number")
        contents.cited({ holder: holder as Record<string, unknown>, start, end, unit: ANNOTATION_UNIT, ...text });
  }
}
