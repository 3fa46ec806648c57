import type { ContentsList } from "../answer-texts.ts";
import type { JsonObject } from "../document.ts";
import { objectOf, objectsOf } from "./loose-fields.ts";

/** Where an annotation says what it cites: itself, or a member named by its type. */
const HOLDERS = ["url_citation", "file_citation", "container_file_citation"] as const;
const WORDS = ["title", "text", "content", "quote"] as const;

/** The words of what an answer cites, of each annotation in a list. */
export function annotationsTexts(holder: JsonObject, contents: ContentsList): void {
  for (const [annotation] of objectsOf(holder.annotations)) annotationTexts(annotation, contents);
}

export function annotationTexts(annotation: JsonObject, contents: ContentsList): void {
  for (const holder of [annotation, ...HOLDERS.map((name) => objectOf(annotation[name]))]) if (holder !== null) for (const name of WORDS) contents.whole(holder, name);
}
