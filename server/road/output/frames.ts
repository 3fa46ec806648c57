import { clearNames } from "../../wire/json/answer-names.ts";
import { concat } from "../../wire/streams/adjoining-bytes.ts";
import { type JsonObject, objectInJson } from "../../kernel/json-value.ts";
import { ArrayCutter, elementData } from "../../wire/gemini/array-cutter.ts";
import { writtenWithExactTools } from "../../wire/json/exact-tools.ts";
import { frameData, isOneLine, isWholeEvent } from "../../wire/streams/sse-data.ts";
import { FrameCutter } from "../../wire/streams/sse-frames.ts";
import { type FrameShape, ShapedFrame } from "./frame-shape.ts";

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** One frame of a stream to the caller. */
export interface Frame {
  /** The original bytes; for a frame created here, those of the frame it was modelled on. */
  readonly bytes: Uint8Array;
  /** Null if it carries no JSON object. */
  readonly body: JsonObject | null;
  /** The text the body was parsed from; unset for a frame created here. */
  readonly json?: string;
  /** Whether it marks the end of the stream. */
  readonly closes: boolean;
  /** Lines of an event other than data; left out if there are none, or only the name that the body repeats. */
  readonly beside?: readonly string[];
  /** Whether its data is not a JSON object, so that other parsers may read it differently. */
  readonly unread?: boolean;
  /** Whether the body no longer matches the bytes. */
  changed: boolean;
}

/** Splits a stream into frames and writes them again. Stateful: one instance per stream. */
export interface StreamFraming {
  push(piece: Uint8Array): Frame[];
  /** As `push`, but each frame is read only when its turn comes; those of the `shape` known by then are not parsed. */
  reading(piece: Uint8Array, shape: () => FrameShape | null): Iterable<Frame>;
  /** What follows the last complete frame; null if nothing does. */
  rest(): Frame | null;
  write(frame: Frame): Uint8Array;
}

/** `clears`: whether members that parsers could read in two ways are removed. */
export function framingOf(form: "events" | "array", clears = false): StreamFraming {
  return form === "events" ? new EventFraming(clears) : new ArrayFraming(clears);
}

/** Server-sent events. Unchanged frames keep their bytes. */
export class EventFraming implements StreamFraming {
  private readonly cutter = new FrameCutter();
  private readonly clears: boolean;

  constructor(clears = false) {
    this.clears = clears;
  }

  push(piece: Uint8Array): Frame[] {
    return this.cutter.push(piece).map((bytes) => eventFrame(bytes, decoder.decode(bytes), this.clears));
  }

  *reading(piece: Uint8Array, shape: () => FrameShape | null): Iterable<Frame> {
    const isWhole = this.cutter.isEmpty;
    const events = this.cutter.push(piece);
    const all = isWhole && events.length > 1 ? decoder.decode(piece) : "";
    // In ASCII, characters are where the bytes are.
    const isAscii = all.length === piece.byteLength;
    let at = 0;
    for (const bytes of events) {
      const text = isAscii ? all.slice(at, (at += bytes.byteLength)) : decoder.decode(bytes);
      yield shape()?.frameOf(bytes, text) ?? eventFrame(bytes, text, this.clears);
    }
  }

  rest(): Frame | null {
    const rest = this.cutter.rest();
    return rest.byteLength > 0 && isWholeEvent(rest) ? eventFrame(rest, decoder.decode(rest), this.clears) : null;
  }

  write(frame: Frame): Uint8Array {
    if (!frame.changed) return frame.bytes;
    if (frame instanceof ShapedFrame) return encoder.encode(frame.event);
    const { bytes, body } = frame;
    const text = decoder.decode(bytes);
    const data = `data: ${writtenWithExactTools(body, frameData(text) ?? "")}\n\n`;
    if (isOneLine(text)) return encoder.encode(data);
    const others = besideData(text);
    return encoder.encode([...others, data].join("\n"));
  }
}

function eventFrame(bytes: Uint8Array, text: string, clears: boolean): Frame {
  const data = frameData(text) ?? (text.trimStart().startsWith("{") ? text : null);
  const frame = data === null ? { bytes, body: null, closes: false, changed: false } : frameOf(bytes, data, clears);
  return isOneLine(text) || isNamed(text, frame.body?.type) ? frame : { ...frame, beside: besideData(text) };
}

function besideData(text: string): readonly string[] {
  return text.split(/\r\n|\n|\r/).filter((line) => line !== "" && !line.startsWith("data:"));
}

const NAME = /^event: [a-z_.]{1,64}$/;

/** Whether a frame is a single data line after an event name that the body repeats, as two formats write them. */
function isNamed(text: string, type: unknown): boolean {
  if (typeof type !== "string" || !text.startsWith(`event: ${type}\n`) || !text.endsWith("\n\n") || text.includes("\r")) return false;
  const end = text.indexOf("\n");
  return text.startsWith("data:", end + 1) && text.indexOf("\n", end + 1) === text.length - 2 && NAME.test(text.slice(0, end));
}

/** A JSON array sent in pieces. */
class ArrayFraming implements StreamFraming {
  private readonly cutter = new ArrayCutter();
  private readonly clears: boolean;
  private open = false;

  constructor(clears: boolean) {
    this.clears = clears;
  }

  push(piece: Uint8Array): Frame[] {
    return this.cutter.push(piece).map((bytes) => frameOf(bytes, elementData(decoder.decode(bytes)), this.clears));
  }

  reading(piece: Uint8Array): Frame[] {
    return this.push(piece);
  }

  rest(): Frame | null {
    const bytes = this.cutter.rest();
    return bytes.byteLength === 0 ? null : { bytes, body: null, closes: true, changed: false };
  }

  write({ bytes, body, changed, closes }: Frame): Uint8Array {
    // If no element was sent, nothing has opened the array yet.
    if (closes) return this.open || decoder.decode(bytes).includes("[") ? bytes : concat([encoder.encode("["), bytes]);
    const first = !this.open;
    this.open = true;
    // The first element sent must open the array, even if another came first.
    if (!changed && decoder.decode(bytes.subarray(0, 8)).trimStart().startsWith("[") === first) return bytes;
    return encoder.encode(`${first ? "[" : ",\r\n"}${writtenWithExactTools(body, elementData(decoder.decode(bytes)))}`);
  }
}

function frameOf(bytes: Uint8Array, data: string, clears: boolean): Frame {
  const body = objectInJson(data);
  const closes = data.trim() === "[DONE]";
  if (body === null) return { bytes, body, closes, changed: false, ...(!closes && data.trim() !== "" && { unread: true }) };
  return { bytes, body, json: data, closes, changed: clears && clearNames(body, data) };
}
