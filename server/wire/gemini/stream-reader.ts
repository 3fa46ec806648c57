import type { StreamReader } from "../conversation/codec.ts";
import type { ConversationEvent } from "../conversation/reply.ts";
import { withExactTools } from "../json/exact-tools.ts";
import { frameData } from "../streams/sse-data.ts";
import { FrameTooLarge } from "../streams/stream-bounds.ts";
import { FrameCutter } from "../streams/sse-frames.ts";
import { AnswerReader } from "./answer-reader.ts";
import { bareJsonFrame, bodyIn } from "./gemini-body.ts";

const decoder = new TextDecoder();

/** Reads the server-sent events of a streamed answer (`alt=sse`), and errors sent as bare JSON. */
export class GeminiStreamReader implements StreamReader {
  private readonly cutter = new FrameCutter();
  private readonly answer = new AnswerReader();
  private broken = false;

  push(piece: Uint8Array): ConversationEvent[] {
    if (this.broken) return [];
    let frames: Uint8Array[];
    try {
      frames = this.cutter.push(piece);
    } catch (error) {
      if (!(error instanceof FrameTooLarge)) throw error;
      return this.invalidEvent(error.message);
    }
    return frames.flatMap((frame) => this.frame(decoder.decode(frame)));
  }

  end(): { events: ConversationEvent[]; complete: boolean } {
    const rest = this.cutter.rest();
    const events = this.broken || rest.byteLength === 0 ? [] : this.last(decoder.decode(rest));
    if (this.broken) return { events, complete: false };
    const { events: stops, complete } = this.answer.end();
    return { events: [...events, ...stops], complete };
  }

  private frame(frame: string): ConversationEvent[] {
    if (this.broken) return [];
    const data = frameData(frame) ?? bareJsonFrame(frame);
    if (data === null || data.trim() === "" || data.trim() === "[DONE]") return [];
    const body = bodyIn(data);
    return body === null
      ? this.invalidEvent("the provider sent an event that is not a JSON object")
      : this.answer.read(withExactTools(body, data));
  }

  /** Reads the remainder without a final blank line: an event, or a truncated one, which is ignored. */
  private last(rest: string): ConversationEvent[] {
    const data = frameData(rest) ?? bareJsonFrame(rest);
    return data === null || bodyIn(data) === null ? [] : this.frame(rest);
  }

  private invalidEvent(message: string): ConversationEvent[] {
    this.broken = true;
    return [{ kind: "fault", fault: { status: 502, message, code: null, param: null } }];
  }
}
