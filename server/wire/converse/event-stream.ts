import { EventStreamCodec } from "@smithy/eventstream-codec";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { HeldBytes, MAX_FRAME_BYTES } from "../streams/held-bytes.ts";
import { refuseCostlyFrame } from "../streams/stream-bounds.ts";
import { reasonOf } from "../../kernel/errors.ts";

/** One message of an `application/vnd.amazon.eventstream`. */
export interface EventStreamMessage {
  readonly type: "event" | "exception" | "error";
  /** The event type, exception type or error code. */
  readonly name: string;
  /** Empty if the message has no JSON object as payload; an error's text is in `message`. */
  readonly payload: JsonObject;
}

/** Thrown for bytes that are not an event stream: the start of the next message cannot be found after them. */
export class NotAnEventStream extends Error {}

/** Prelude (8), its checksum (4) and the closing checksum (4). */
const MIN_BYTES = 16;

const decoder = new TextDecoder();
const encoder = new TextEncoder();
const frames = new EventStreamCodec(
  (bytes) => (typeof bytes === "string" ? bytes : decoder.decode(bytes)),
  (text) => encoder.encode(text),
);

/** Splits an event stream into messages, however its bytes are chunked, and verifies both checksums of each. */
export class EventStreamCutter {
  /** One message, and the chunk that contains its end. */
  private readonly held = new HeldBytes(2 * MAX_FRAME_BYTES);
  /** The length of the incomplete message, or of the prelude's first field as long as that is unknown. */
  private wanted = 4;

  /** Whether everything pushed so far was whole messages. */
  get isEmpty(): boolean {
    return this.held.length === 0;
  }

  /** Throws `NotAnEventStream` or `FrameTooLarge`; do not push anything afterwards. */
  push(piece: Uint8Array): EventStreamMessage[] {
    if (piece.byteLength === 0) return [];
    let bytes = piece;
    if (this.held.length > 0) {
      const held = this.wanted - this.held.length;
      // A large message in many chunks is assembled only once, when complete.
      this.held.add(piece);
      if (piece.byteLength < held) return [];
      bytes = this.held.take();
    }
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const messages: EventStreamMessage[] = [];
    let at = 0;
    this.wanted = 4;
    while (bytes.byteLength - at >= 4) {
      const length = view.getUint32(at);
      if (length < MIN_BYTES || length > MAX_FRAME_BYTES) throw new NotAnEventStream(`an event of ${length} bytes was announced`);
      if (bytes.byteLength - at < length) {
        this.wanted = length;
        break;
      }
      messages.push(messageOf(bytes.subarray(at, at + length)));
      at += length;
    }
    const rest = bytes.subarray(at);
    if (rest.byteLength > 0) this.held.add(rest);
    return messages;
  }
}

function messageOf(bytes: Uint8Array): EventStreamMessage {
  let decoded: ReturnType<EventStreamCodec["decode"]>;
  try {
    decoded = frames.decode(bytes);
  } catch (error) {
    throw new NotAnEventStream(reasonOf(error));
  }
  const header = (name: string): string | null => {
    const value = decoded.headers[name]?.value;
    return typeof value === "string" ? value : null;
  };
  const type = header(":message-type");
  if (type === "error") return { type, name: header(":error-code") ?? "", payload: { message: header(":error-message") ?? "" } };
  const payload = objectOf(decoded.body);
  if (type === "exception") return { type, name: header(":exception-type") ?? "", payload };
  return { type: "event", name: header(":event-type") ?? "", payload };
}

function objectOf(body: Uint8Array): JsonObject {
  refuseCostlyFrame(body);
  try {
    const value: unknown = JSON.parse(decoder.decode(body));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
