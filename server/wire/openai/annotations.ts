import { type Citation, type JoinedText, MAX_CITATIONS, webPageOf } from "../conversation/citations.ts";
import type { ConversationEvent } from "../conversation/reply.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { TextPositions } from "../texts/text-positions.ts";
import { filledOf, objectOf, objectsOf, stringOf, wholeOf } from "./loose-fields.ts";

/** OpenAI's servers count characters as Python does, which is what their clients in that language expect. */
export const ANNOTATION_UNIT = "code points";

/** The citations in the annotations of a text, each with its part. An annotation without positions concerns all of the text. */
export function readAnnotations(annotations: unknown, joined: JoinedText): (Citation & { readonly part: number })[] {
  const listed = objectsOf(annotations).slice(0, MAX_CITATIONS);
  if (listed.length === 0) return [];
  const { text } = joined;
  const positions = new TextPositions(ANNOTATION_UNIT, text);
  return listed.flatMap(([annotation]) => {
    const holder = objectOf(annotation[String(annotation.type)]) ?? annotation;
    const source = sourceOf(annotation.type, holder);
    if (source === null) return [];
    const at = annotation.type === "file_citation" ? [holder.index, holder.index] : [holder.start_index, holder.end_index];
    const [start, end] = at.map((position) => (wholeOf(position) === null ? null : positions.from(position as number)));
    const isKnown = start != null && end != null && start <= end;
    const passages = isKnown ? joined.passages(start, end) : joined.passages(0, text.length);
    return passages.map((passage) => ({ ...passage, quote: null, source }));
  });
}

/** What a delta cites in the text of a candidate so far. */
export function citationEvents(candidate: number, annotations: unknown, joined: JoinedText): ConversationEvent[] {
  return readAnnotations(annotations, joined).map(({ part, ...citation }) => ({ kind: "citation", candidate, part, citation }));
}

function sourceOf(type: unknown, holder: JsonObject): Citation["source"] | null {
  if (type === "url_citation") {
    const url = filledOf(holder.url);
    return url === null ? null : { kind: "web", url, title: stringOf(holder.title) };
  }
  if (type !== "file_citation" && type !== "container_file_citation") return null;
  const id = filledOf(holder.file_id);
  return id === null ? null : { kind: "document", id, title: stringOf(holder.filename), place: null };
}

/** A web page as annotation; null for other sources. `positions`: those of the text that has `before` in front of the part. */
export function webAnnotation({ start, end, source }: Citation, positions: TextPositions, before = 0): JsonObject | null {
  const page = webPageOf(source);
  if (page === null) return null;
  // Clients show the title as the text of a link.
  const title = page.title ?? page.url;
  return { start_index: positions.of(before + start), end_index: positions.of(before + end), title, url: page.url };
}

/** An annotation of a response; null if the format has no place for the source: it has files only by their IDs. */
export function responseAnnotation(citation: Citation, positions: TextPositions): JsonObject | null {
  const page = webAnnotation(citation, positions);
  if (page !== null) return { type: "url_citation", ...page };
  const { source, end } = citation;
  if (source.kind === "web" || source.id === null) return null;
  return { type: "file_citation", file_id: source.id, filename: source.title ?? source.id, index: positions.of(end) };
}
