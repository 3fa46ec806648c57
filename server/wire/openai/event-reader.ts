import type { StreamReader } from "../conversation/codec.ts";
import type { ConversationEvent, ProviderFault } from "../conversation/reply.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { frameData } from "../streams/sse-data.ts";
import { FrameTooLarge } from "../streams/stream-bounds.ts";
import { FrameCutter } from "../streams/sse-frames.ts";

const decoder = new TextDecoder();
const DONE = "[DONE]";

/** The format-independent part of reading a provider's SSE stream. Emits nothing after a fault. */
export abstract class EventReader implements StreamReader {
  private readonly cutter = new FrameCutter();
  private events: ConversationEvent[] = [];
  private failed = false;
  closed = false;

  /** Reads one event's data. */
  protected abstract read(data: JsonObject): void;
  /** Called for the provider's explicit end marker. */
  protected abstract done(): void;
  /** Called once after all events: ends what is still open, and returns whether the answer had ended. */
  protected abstract finish(): boolean;

  push(piece: Uint8Array): ConversationEvent[] {
    if (this.failed) return [];
    try {
      for (const frame of this.cutter.push(piece)) this.frame(frame);
    } catch (error) {
      if (!(error instanceof FrameTooLarge)) throw error;
      this.fault({ status: 502, message: error.message, code: null, param: null });
    }
    return this.take();
  }

  end(): { readonly events: readonly ConversationEvent[]; readonly complete: boolean } {
    if (this.failed) return { events: [], complete: false };
    const rest = this.cutter.rest();
    if (rest.byteLength > 0) this.frame(rest, true);
    const complete = !this.failed && this.finish();
    return { events: this.take(), complete };
  }

  protected emit(event: ConversationEvent): void {
    if (!this.failed) this.events.push(event);
  }

  protected fault(fault: ProviderFault): void {
    this.emit({ kind: "fault", fault });
    this.failed = true;
  }

  /** With `torn`, an unreadable frame is ignored instead of reported: the connection ended within it. */
  private frame(frame: Uint8Array, torn = false): void {
    if (this.failed) return;
    const data = frameData(decoder.decode(frame));
    if (data === null || data.trim() === "") return;
    if (data === DONE) {
      this.closed = true;
      return this.done();
    }
    let value: unknown;
    try {
      value = JSON.parse(data);
    } catch {
      if (torn) return;
      return this.fault({ status: 502, message: "the provider sent an event that is not JSON", code: null, param: null });
    }
    if (isObject(value)) this.read(value);
  }

  private take(): ConversationEvent[] {
    const { events } = this;
    this.events = [];
    return events;
  }
}
