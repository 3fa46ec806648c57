import type { CitedSource, Citation, DocumentPlace } from "../conversation/citations.ts";
import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { filledOf, objectsOf, stringOf, wholeOf } from "../openai/loose-fields.ts";

/** The kinds of places in Bedrock's `location`, which holds one of them, and the member with the index of the document. */
const PLACES: readonly (readonly [name: string, unit: DocumentPlace["unit"], index: string])[] = [
  ["documentChar", "character", "documentIndex"],
  ["documentPage", "page", "documentIndex"],
  ["documentChunk", "block", "documentIndex"],
  ["searchResultLocation", "result_block", "searchResultIndex"],
];

/** The citations of a block, which concern all of its text. In a stream each is a delta of its own. */
export function readConverseCitations(citations: JsonValue | undefined, length: number): Citation[] {
  return objectsOf(citations).flatMap(([citation]) => {
    const source = sourceOf(citation);
    if (source === null) return [];
    const quote = objectsOf(citation.sourceContent)
      .map(([piece]) => stringOf(piece.text) ?? "")
      .join("");
    return [{ start: 0, end: length, quote: filledOf(quote), source }];
  });
}

function sourceOf(citation: JsonObject): CitedSource | null {
  const location = isObject(citation.location) ? citation.location : {};
  const title = stringOf(citation.title);
  const url = isObject(location.web) ? filledOf(location.web.url) : null;
  if (url !== null) return { kind: "web", url, title };
  for (const [name, unit, indexName] of PLACES) {
    const given = location[name];
    if (!isObject(given)) continue;
    const [index, start, end] = [given[indexName], given.start, given.end].map(wholeOf);
    if (index == null || start == null || end == null) continue;
    return { kind: "document", id: filledOf(citation.source), title, place: { unit, index, start, end } };
  }
  const id = filledOf(citation.source);
  return id === null && title === null ? null : { kind: "document", id, title, place: null };
}
