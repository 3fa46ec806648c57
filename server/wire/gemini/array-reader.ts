import type { StreamReader } from "../conversation/codec.ts";
import type { ConversationEvent } from "../conversation/reply.ts";
import { isObject } from "../../kernel/json-value.ts";
import { withExactTools } from "../json/exact-tools.ts";
import { AnswerReader } from "./answer-reader.ts";

/** Reads the JSON array of a caller who streams without `alt=sse`, once it is whole. */
export class GeminiArrayReader implements StreamReader {
  private readonly pieces: Uint8Array[] = [];

  push(piece: Uint8Array): ConversationEvent[] {
    this.pieces.push(piece);
    return [];
  }

  end(): { events: ConversationEvent[]; complete: boolean } {
    let bodies: unknown;
    try {
      const text = Buffer.concat(this.pieces).toString("utf8");
      bodies = withExactTools(JSON.parse(text), text);
    } catch {
      return { events: [], complete: false };
    }
    // What stands between the objects is no client's, and what stands behind it may be read in more ways than one.
    if (!Array.isArray(bodies) || !bodies.every(isObject)) return { events: [], complete: false };
    const answer = new AnswerReader();
    const read = bodies.flatMap((body) => answer.read(body));
    const { events, complete } = answer.end();
    return { events: [...read, ...events], complete };
  }
}
