import type { StreamCodec, StreamEnding, StreamPiece } from "../stream.ts";
import type { Usage } from "../usage.ts";
import type { StreamReader, StreamWriter } from "./codec.ts";
import type { ConversationEvent } from "./reply.ts";

const encoder = new TextEncoder();

/** An answer read in the provider's format and written in the caller's, event by event. */
export class TranslatedStream implements StreamCodec {
  private readonly reader: StreamReader;
  private readonly writer: StreamWriter;
  private readonly seen: ((event: ConversationEvent) => void) | null;
  private readonly enclosed: boolean;
  begun = false;
  usage: Usage | null = null;
  outputLength = 0;
  providerError: string | null = null;

  /** `seen` is told of every event. `enclosed`: the answer is one JSON document, which an error leaves open. */
  constructor(reader: StreamReader, writer: StreamWriter, seen: ((event: ConversationEvent) => void) | null, { enclosed = false } = {}) {
    this.reader = reader;
    this.writer = writer;
    this.seen = seen;
    this.enclosed = enclosed;
  }

  get closed(): boolean {
    return this.reader.closed === true;
  }

  push(piece: Uint8Array): StreamPiece {
    return this.write(this.reader.push(piece));
  }

  end(): StreamEnding {
    const { events, complete } = this.reader.end();
    const rest = this.write(events);
    if (!complete || this.providerError !== null) return { complete: false, last: rest, told: this.providerError !== null && !this.enclosed };
    const closing = encoder.encode(this.writer.close());
    return { complete: true, last: rest === null ? closing : Buffer.concat([rest, closing]), told: false };
  }

  private write(events: readonly ConversationEvent[]): StreamPiece {
    let text = "";
    for (const event of events) {
      this.note(event);
      text += this.writer.write(event);
    }
    return text === "" ? null : encoder.encode(text);
  }

  private note(event: ConversationEvent): void {
    this.seen?.(event);
    if (event.kind === "delta") {
      this.outputLength += event.text.length;
      this.begun = true;
    } else if (event.kind === "usage") this.usage = event.usage;
    else if (event.kind === "fault") this.providerError ??= event.fault.message;
    else if (event.kind === "stop" || (event.kind === "part_start" && event.type === "tool_call")) this.begun = true;
  }
}
