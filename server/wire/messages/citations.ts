import { type Citation, type DocumentPlace, webPageOf } from "../conversation/citations.ts";
import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { filledOf, objectsOf, stringOf, wholeOf } from "../openai/loose-fields.ts";

/** The members with a citation's place, by its type. */
const PLACES: Readonly<Record<string, readonly [unit: DocumentPlace["unit"], index: string, start: string, end: string]>> = {
  char_location: ["character", "document_index", "start_char_index", "end_char_index"],
  page_location: ["page", "document_index", "start_page_number", "end_page_number"],
  content_block_location: ["block", "document_index", "start_block_index", "end_block_index"],
  search_result_location: ["result_block", "search_result_index", "start_block_index", "end_block_index"],
};

/** The citations of a block, which concern all of its text. */
export function readMessagesCitations(citations: JsonValue | undefined, length: number): Citation[] {
  return objectsOf(citations).flatMap(([citation]) => readCitation(citation, length) ?? []);
}

function readCitation(citation: JsonObject, end: number): Citation | null {
  const passage = { start: 0, end, quote: filledOf(citation.cited_text) };
  if (citation.type === "web_search_result_location") {
    const url = filledOf(citation.url);
    return url === null ? null : { ...passage, source: { kind: "web", url, title: stringOf(citation.title) } };
  }
  const place = placeOf(citation);
  if (place === null) return null;
  return {
    ...passage,
    source: {
      kind: "document",
      id: filledOf(citation.file_id) ?? filledOf(citation.source),
      title: stringOf(citation.document_title) ?? stringOf(citation.title),
      place,
    },
  };
}

function placeOf(citation: JsonObject): DocumentPlace | null {
  const [unit, ...names] = (Object.hasOwn(PLACES, String(citation.type)) ? PLACES[String(citation.type)] : null) ?? [];
  const [index, start, end] = names.map((name) => wholeOf(citation[name]));
  return unit === undefined || index == null || start == null || end == null ? null : { unit, index, start, end };
}

/** Null if the format has no place for the citation: it has documents only of the request. */
export function writeMessagesCitation({ quote, source }: Citation): JsonObject | null {
  const cited_text = quote ?? "";
  if (source.kind === "document" && source.place !== null) return documentCitation(cited_text, source.id, source.title, source.place);
  const page = webPageOf(source);
  // Only the vendor can make the reference that it needs to get back.
  return page === null ? null : { type: "web_search_result_location", cited_text, encrypted_index: "", title: page.title, url: page.url };
}

function documentCitation(cited_text: string, id: string | null, title: string | null, place: DocumentPlace): JsonObject {
  const { unit, index, start, end } = place;
  const document = { cited_text, document_index: index, document_title: title, file_id: id };
  switch (unit) {
    case "character":
      return { type: "char_location", ...document, start_char_index: start, end_char_index: end };
    case "page":
      return { type: "page_location", ...document, start_page_number: start, end_page_number: end };
    case "block":
      return { type: "content_block_location", ...document, start_block_index: start, end_block_index: end };
    case "result_block":
      return {
        type: "search_result_location",
        ...{ cited_text, search_result_index: index, source: id ?? "", title, start_block_index: start, end_block_index: end },
      };
  }
}

/** Whether a citation is one that the gateway wrote for another vendor's, which Claude refuses to get back. */
export function isForeignCitation(citation: JsonValue): boolean {
  return isObject(citation) && citation.type === "web_search_result_location" && citation.encrypted_index === "";
}

/** A piece of a text, with the citations of all of it. */
interface CitedPiece {
  readonly text: string;
  readonly citations: readonly Citation[];
}

/** Cuts a text so that each citation concerns whole pieces. A citation of nothing concerns the piece that ends there. */
export function citedPieces(text: string, citations: readonly Citation[]): CitedPiece[] {
  const cuts = [...new Set([0, ...citations.flatMap(({ start, end }) => (start < end ? [start, end] : [end])), text.length])]
    .filter((cut) => cut >= 0 && cut <= text.length)
    .sort((a, b) => a - b);
  const pieces: CitedPiece[] = [];
  let from = 0;
  for (const to of cuts.slice(1)) {
    const cited = citations.filter(({ start, end }) => (start < end ? start < to && end > from : end === to || (end === 0 && from === 0)));
    const piece = text.slice(from, to);
    const last = pieces.at(-1);
    // Clients cannot send blank blocks back.
    if (last !== undefined && piece.trim() === "") pieces[pieces.length - 1] = { text: last.text + piece, citations: last.citations };
    else pieces.push({ text: piece, citations: cited });
    from = to;
  }
  const [first, second] = pieces;
  return first !== undefined && second !== undefined && first.text.trim() === ""
    ? [{ text: first.text + second.text, citations: second.citations }, ...pieces.slice(2)]
    : pieces;
}
