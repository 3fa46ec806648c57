import type { StreamCodec, StreamEnding, StreamPiece } from "../streams/stream.ts";
import { type ServiceTier, type Usage, withOutputSince } from "../usage.ts";
import { FrameTooLarge } from "../streams/stream-bounds.ts";
import type { StreamReader, StreamWriter } from "./codec.ts";
import { MAX_CITATIONS } from "./citations.ts";
import type { ConversationEvent } from "./reply.ts";

const encoder = new TextEncoder();
/** Far larger than any answer of a model. */
const MAX_KEPT_CHARACTERS = 16 * 1024 * 1024;
/** The cost assumed for an event and for a part, in addition to its text. */
const EVENT_CHARACTERS = 32;
const PART_CHARACTERS = 256;

/** An answer stream read in the provider's format and written in the caller's, event by event. */
export class TranslatedStream implements StreamCodec {
  private readonly reader: StreamReader;
  private readonly writer: StreamWriter;
  private readonly seen: ((event: ConversationEvent) => void) | null;
  private readonly enclosed: boolean;
  private readonly closing: (() => void) | null;
  private reportedUsage: Usage | null = null;
  /** The output length when usage was last reported. */
  private textLength = 0;
  private stopped = false;
  private kept = 0;
  private citations = 0;
  begun = false;
  outputLength = 0;
  providerError: string | null = null;

  /**
   * `seen` is called with every event. `enclosed`: the answer is one JSON document, which an error leaves incomplete.
   * `closing` is called when the answer is complete, before its last bytes are sent.
   */
  constructor(
    reader: StreamReader,
    writer: StreamWriter,
    seen: ((event: ConversationEvent) => void) | null,
    { enclosed = false, closing = null }: { readonly enclosed?: boolean; readonly closing?: (() => void) | null } = {},
  ) {
    this.reader = reader;
    this.writer = writer;
    this.seen = seen;
    this.enclosed = enclosed;
    this.closing = closing;
  }

  /** Some vendors report usage at the start and again at the end; for a truncated answer, the output since the last report is estimated. */
  get usage(): Usage | null {
    return this.reportedUsage === null || this.stopped
      ? this.reportedUsage
      : withOutputSince(this.reportedUsage, this.outputLength - this.textLength);
  }

  get served(): ServiceTier | undefined {
    return this.reader.served;
  }

  /** Nothing is written after an error, whatever the provider sends. */
  get closed(): boolean {
    return this.reader.closed === true || this.providerError !== null;
  }

  push(piece: Uint8Array): StreamPiece {
    let events: readonly ConversationEvent[];
    try {
      events = this.reader.push(piece);
    } catch (error) {
      if (!(error instanceof FrameTooLarge)) throw error;
      events = [faultOf(error)];
    }
    return this.write(events);
  }

  end(): StreamEnding {
    const { events, complete } = this.reader.end();
    const rest = this.write(events);
    if (!complete || this.providerError !== null)
      return { complete: false, last: rest, errorReported: this.providerError !== null && !this.enclosed };
    const closing = encoder.encode(this.writer.close());
    this.closing?.();
    return { complete: true, last: rest === null ? closing : Buffer.concat([rest, closing]), errorReported: false };
  }

  private write(events: readonly ConversationEvent[]): StreamPiece {
    let text = "";
    for (const event of events) {
      if (this.providerError !== null) break;
      if (event.kind === "citation" && ++this.citations > MAX_CITATIONS) continue;
      const tooLarge = this.tooLarge(event);
      const checkedEvent = tooLarge === null ? event : faultOf(tooLarge);
      this.note(checkedEvent);
      text += this.writer.write(checkedEvent);
    }
    return text === "" ? null : encoder.encode(text);
  }

  /** Writers keep in memory what the end of an answer repeats, and what may not be sent yet. */
  private tooLarge(event: ConversationEvent): FrameTooLarge | null {
    if (event.kind === "delta") this.kept += event.text.length + EVENT_CHARACTERS;
    else if (event.kind === "citation") this.kept += (event.citation.quote?.length ?? 0) + PART_CHARACTERS;
    else if (event.kind !== "usage") this.kept += PART_CHARACTERS;
    return this.kept > MAX_KEPT_CHARACTERS ? new FrameTooLarge("the answer is too large to be translated") : null;
  }

  private note(event: ConversationEvent): void {
    this.seen?.(event);
    if (event.kind === "delta") {
      this.outputLength += event.text.length;
      this.begun = true;
    } else if (event.kind === "usage") {
      this.reportedUsage = event.usage;
      this.textLength = this.outputLength;
    } else if (event.kind === "fault") this.providerError ??= event.fault.message;
    else if (event.kind === "picture") this.begun = true;
    else if (event.kind === "stop") this.begun = this.stopped = true;
    else if (event.kind === "part_start" && event.type === "tool_call") this.begun = true;
  }
}

function faultOf({ message }: FrameTooLarge): ConversationEvent {
  return { kind: "fault", fault: { status: 502, message, code: null, param: null } };
}
