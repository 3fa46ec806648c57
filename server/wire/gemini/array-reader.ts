import type { StreamReader } from "../conversation/codec.ts";
import type { ConversationEvent } from "../conversation/reply.ts";
import { isObject } from "../../kernel/json-value.ts";
import { withExactTools } from "../json/exact-tools.ts";
import { AnswerReader } from "./answer-reader.ts";

/** Reads the JSON array returned to a caller that streams without `alt=sse`, once it is complete. */
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
    // Anything but objects is not a client's input, and what follows it would be ambiguous.
    if (!Array.isArray(bodies) || !bodies.every(isObject)) return { events: [], complete: false };
    const answer = new AnswerReader();
    const read = bodies.flatMap((body) => answer.read(body));
    const { events, complete } = answer.end();
    return { events: [...read, ...events], complete };
  }
}
