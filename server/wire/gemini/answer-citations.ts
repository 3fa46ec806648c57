import { type Citation, type CitedSource, JoinedText, MAX_CITATIONS, type PartRange } from "../conversation/citations.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { TextPositions, type TextUnit } from "../texts/text-positions.ts";
import { member, numberIn, objectIn, objectsIn, textIn } from "./members.ts";

/** Google documents bytes; servers of its format also count characters, so a segment's own text decides. */
const UNITS: readonly TextUnit[] = ["bytes", "code points", "code units"];

/** A cited passage as reported, with what was known of the answer's parts when it was. */
interface Reported {
  readonly segment: JsonObject;
  readonly source: CitedSource;
  readonly quote: string | null;
  readonly body: number;
}

/**
 * The sources of one candidate. Within a complete answer a segment counts from the start of a part; in a stream, whose pieces
 * are parts of their own, it counts in all of the text so far.
 */
export class AnswerCitations {
  private readonly joined = new JoinedText();
  /** The texts of the bodies' parts: by body and place in it. */
  private readonly places = new Map<string, { readonly part: number; readonly at: number; readonly text: string }>();
  private readonly lengths = new Map<number, number>();
  private readonly positions = new Map<string, readonly TextPositions[]>();
  private readonly reported: Reported[] = [];
  private chunks: readonly JsonObject[] = [];
  private body = 0;

  /** A text at `place` in the current body, which continues the neutral part `part`. */
  text(part: number, place: number, text: string): void {
    const at = this.lengths.get(part) ?? 0;
    this.lengths.set(part, at + text.length);
    this.joined.add(part, text);
    // Streams have a body for every few words, and only the first bodies of one can be the whole answer.
    if (this.body === 0) this.places.set(`${this.body}.${place}`, { part, at, text });
  }

  /** Reads the sources of a body, after its texts. */
  read(candidate: JsonObject): void {
    const grounding = objectIn(candidate, "groundingMetadata");
    if (grounding !== null) this.ground(grounding);
    const recited = objectIn(candidate, "citationMetadata");
    for (const name of ["citations", "citationSources"])
      for (const source of recited === null ? [] : objectsIn(recited, name)) {
        const url = textIn(source, "uri");
        if (url !== null && url !== "") this.report(source, { kind: "web", url, title: textIn(source, "title") }, null);
      }
    this.body++;
  }

  /** The citations of the whole answer, without repetitions. */
  all(): (Citation & { readonly part: number })[] {
    if (this.reported.length === 0) return [];
    const { text } = this.joined;
    const found = new Map<string, Citation & { readonly part: number }>();
    for (const { segment, source, quote, body } of this.reported)
      for (const { part, start, end } of this.passages(segment, body, text)) {
        const citation = { part, start, end, quote, source };
        found.set(JSON.stringify(citation), citation);
      }
    return [...found.values()];
  }

  private ground(grounding: JsonObject): void {
    const chunks = objectsIn(grounding, "groundingChunks");
    if (chunks.length > 0) this.chunks = chunks;
    const supports = objectsIn(grounding, "groundingSupports");
    for (const support of supports) {
      const indices = member(support, "groundingChunkIndices");
      for (const index of Array.isArray(indices) ? indices : []) {
        const chunk = typeof index === "number" ? this.chunks[index] : undefined;
        if (chunk !== undefined) this.chunk(chunk, objectIn(support, "segment") ?? {});
      }
    }
    // Sources that are not attributed to passages are those of the whole answer.
    if (supports.length === 0) for (const chunk of chunks) this.chunk(chunk, {});
  }

  private chunk(chunk: JsonObject, segment: JsonObject): void {
    for (const name of ["web", "maps", "image"]) {
      const page = objectIn(chunk, name);
      const url = page === null ? null : (textIn(page, "uri") ?? textIn(page, "sourceUri"));
      if (page !== null && url !== null && url !== "")
        return this.report(segment, { kind: "web", url, title: textIn(page, "title") }, null);
    }
    const document = objectIn(chunk, "retrievedContext");
    if (document === null) return;
    const id = textIn(document, "documentName") || textIn(document, "uri") || null;
    this.report(segment, { kind: "document", id, title: textIn(document, "title"), place: null }, textIn(document, "text") || null);
  }

  private report(segment: JsonObject, source: CitedSource, quote: string | null): void {
    if (this.reported.length < MAX_CITATIONS) this.reported.push({ segment, source, quote, body: this.body });
  }

  private passages(segment: JsonObject, body: number, text: string): readonly PartRange[] {
    const end = numberIn(segment, "endIndex");
    if (end === null) return this.joined.passages(0, text.length);
    const start = numberIn(segment, "startIndex") ?? 0;
    const words = textIn(segment, "text") ?? "";
    const place = this.places.get(`${body}.${numberIn(segment, "partIndex") ?? 0}`);
    const own = place === undefined ? null : this.rangeIn(place.text, start, end, words);
    if (place !== undefined && own !== null) return [{ part: place.part, start: place.at + own[0], end: place.at + own[1] }];
    const at = words === "" ? -1 : text.indexOf(words);
    const range = this.rangeIn(text, start, end, words) ?? (at < 0 ? [0, text.length] : [at, at + words.length]);
    return this.joined.passages(range[0], range[1]);
  }

  /** The range in code units that has these words, if they are known; null if there is none. */
  private rangeIn(text: string, from: number, to: number, words: string): readonly [number, number] | null {
    let units = this.positions.get(text);
    if (units === undefined) this.positions.set(text, (units = UNITS.map((unit) => new TextPositions(unit, text))));
    for (const positions of units) {
      const [start, end] = [positions.from(from), positions.from(to)];
      if (start !== null && end !== null && start <= end && (words === "" || text.slice(start, end) === words)) return [start, end];
    }
    return null;
  }
}
