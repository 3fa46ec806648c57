import { EventStreamCodec } from "@smithy/eventstream-codec";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { HeldBytes, MAX_FRAME_BYTES } from "../streams/held-bytes.ts";
import { refuseCostlyFrame } from "../streams/stream-bounds.ts";
import { reasonOf } from "../../kernel/errors.ts";

/** One message of an `application/vnd.amazon.eventstream`. */
export interface EventStreamMessage {
  readonly type: "event" | "exception" | "error";
  /** Its event type, exception type or error code. */
  readonly name: string;
  /** Empty where the message had none that is a JSON object; an error's message stands under `message`. */
  readonly payload: JsonObject;
}

/** Bytes that are no event stream: what follows them cannot be found any more. */
export class NotAnEventStream extends Error {}

/** Prelude (8), its checksum (4) and the closing checksum (4). */
const LEAST_BYTES = 16;

const decoder = new TextDecoder();
const encoder = new TextEncoder();
const frames = new EventStreamCodec(
  (bytes) => (typeof bytes === "string" ? bytes : decoder.decode(bytes)),
  (text) => encoder.encode(text),
);

/** Cuts the bytes of an event stream into messages, however they were delivered, and checks both checksums of each. */
export class EventStreamCutter {
  /** A message, and the piece that its end came with. */
  private readonly held = new HeldBytes(2 * MAX_FRAME_BYTES);
  /** Length of the message being waited for; the length of a prelude's first field while it is not known. */
  private wanted = 4;

  /** Whether everything pushed so far was whole messages. */
  get isEmpty(): boolean {
    return this.held.length === 0;
  }

  /** Throws `NotAnEventStream` or `FrameTooLarge`; nothing can be pushed after it. */
  push(piece: Uint8Array): EventStreamMessage[] {
    if (piece.byteLength === 0) return [];
    let bytes = piece;
    if (this.held.length > 0) {
      const held = this.wanted - this.held.length;
      // A large message in many pieces is put together once, when the last of them is there.
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
      if (length < LEAST_BYTES || length > MAX_FRAME_BYTES) throw new NotAnEventStream(`an event of ${length} bytes was announced`);
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
