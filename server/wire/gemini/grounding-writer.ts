import { type Citation, JoinedText, webPageOf } from "../conversation/citations.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { TextPositions } from "../texts/text-positions.ts";

/** A text of an answer in which segments count. */
interface GroundedText {
  readonly text: string;
  readonly positions: TextPositions;
  /** Its place among the parts of a complete answer; null for the joined text of a stream. */
  readonly partIndex: number | null;
}

export function groundedText(text: string, partIndex: number | null): GroundedText {
  return { text, positions: new TextPositions("bytes", text), partIndex };
}

/** Collects the citations of one candidate as Google's grounding metadata. */
export class GroundingWriter {
  private readonly chunks: JsonObject[] = [];
  private readonly chunkAt = new Map<string, number>();
  private readonly supports = new Map<string, { readonly segment: JsonObject; readonly chunks: Set<number> }>();

  /** `before`: where the citation's part starts in the text. */
  add(citation: Citation, { text, positions, partIndex }: GroundedText, before = 0): void {
    const [start, end] = [before + citation.start, before + citation.end];
    const segment = {
      ...(partIndex !== null && partIndex > 0 && { partIndex }),
      startIndex: positions.of(start),
      endIndex: positions.of(end),
      text: text.slice(start, end),
    };
    const key = `${partIndex}.${start}.${end}`;
    const support = this.supports.get(key) ?? { segment, chunks: new Set<number>() };
    this.supports.set(key, support);
    support.chunks.add(this.chunk(citation));
  }

  /** `{ groundingMetadata }` for a candidate with citations, otherwise empty. */
  member(): JsonObject {
    if (this.chunks.length === 0) return {};
    const groundingSupports = [...this.supports.values()].map(({ segment, chunks }) => ({ segment, groundingChunkIndices: [...chunks] }));
    return { groundingMetadata: { groundingChunks: this.chunks, groundingSupports } };
  }

  private chunk({ quote, source }: Citation): number {
    const page = webPageOf(source);
    const title = source.title === null ? {} : { title: source.title };
    const id = source.kind === "web" || source.id === null ? {} : { uri: source.id };
    const chunk: JsonObject =
      page === null
        ? { retrievedContext: { ...id, ...title, ...(quote !== null && { text: quote }) } }
        : { web: { uri: page.url, ...title } };
    const key = JSON.stringify(chunk);
    const at = this.chunkAt.get(key) ?? this.chunks.push(chunk) - 1;
    this.chunkAt.set(key, at);
    return at;
  }
}

/** The grounding of a streamed candidate. Clients join its pieces, so segments count in all of its text, as Google's do. */
export class StreamedGrounding {
  private readonly joined = new JoinedText();
  private readonly cited: { readonly part: number; readonly citation: Citation }[] = [];

  add(part: number, text: string): void {
    this.joined.add(part, text);
  }

  cite(part: number, citation: Citation): void {
    this.cited.push({ part, citation });
  }

  member(): JsonObject {
    const writer = new GroundingWriter();
    const grounded = groundedText(this.cited.length === 0 ? "" : this.joined.text, null);
    for (const { part, citation } of this.cited) writer.add(citation, grounded, this.joined.startOf(part));
    return writer.member();
  }
}
