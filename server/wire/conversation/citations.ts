/** Far more than answers have; further ones are left out, because each costs a search in the text. */
export const MAX_CITATIONS = 1_000;

/** Where a passage of an answer comes from, independent of the vendor. */
export interface Citation {
  /** The passage in the text of its part, in UTF-16 code units, with `end` exclusive. */
  readonly start: number;
  readonly end: number;
  /** The words of the source; null if they are not reported. */
  readonly quote: string | null;
  readonly source: CitedSource;
}

export type CitedSource = WebSource | DocumentSource;

interface WebSource {
  readonly kind: "web";
  readonly url: string;
  readonly title: string | null;
}

interface DocumentSource {
  readonly kind: "document";
  /** A file's ID, a document's resource name or the name of its origin; null for a document sent in the request. */
  readonly id: string | null;
  readonly title: string | null;
  readonly place: DocumentPlace | null;
}

/** Which document or search result of the request, by its index, and where in it. */
export interface DocumentPlace {
  readonly unit: "character" | "page" | "block" | "result_block";
  readonly index: number;
  readonly start: number;
  readonly end: number;
}

/** The web page of a source: a document may be identified by its address. */
export function webPageOf(source: CitedSource): WebSource | null {
  if (source.kind === "web") return source;
  return source.id !== null && /^https?:\/\//i.test(source.id) ? { kind: "web", url: source.id, title: source.title } : null;
}

/** A range of the text of one part of an answer. */
export interface PartRange {
  readonly part: number;
  readonly start: number;
  readonly end: number;
}

interface JoinedPiece {
  readonly part: number;
  /** Where the piece starts in its part. */
  readonly at: number;
  text: string;
}

/** The text of an answer joined from its parts, for formats that count positions in all of it. */
export class JoinedText {
  private readonly pieces: JoinedPiece[] = [];
  private readonly lengths = new Map<number, number>();

  get text(): string {
    return this.pieces.map(({ text }) => text).join("");
  }

  add(part: number, text: string): void {
    const length = this.lengths.get(part) ?? 0;
    this.lengths.set(part, length + text.length);
    const last = this.pieces.at(-1);
    if (last?.part === part) last.text += text;
    else if (text !== "") this.pieces.push({ part, at: length, text });
  }

  /** Where the text of a part starts. */
  startOf(part: number): number {
    let before = 0;
    for (const piece of this.pieces) {
      if (piece.part === part) break;
      before += piece.text.length;
    }
    return before;
  }

  /** The same passage as positions in the parts; an empty passage is in the part that ends there. */
  passages(start: number, end: number): PartRange[] {
    const found: PartRange[] = [];
    let before = 0;
    for (const { part, at, text } of this.pieces) {
      const after = before + text.length;
      const place = (position: number) => at + Math.min(Math.max(position, before), after) - before;
      const isIn = start === end ? found.length === 0 && start <= after : start < after && end > before;
      if (isIn) found.push({ part, start: place(start), end: place(end) });
      before = after;
    }
    return found;
  }
}
