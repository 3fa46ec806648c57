import { type JsonObject, objectInJson } from "../../kernel/json-value.ts";
import { frameData } from "../../wire/streams/sse-data.ts";
import type { Frame } from "./frames.ts";

/** Anything else in a JSON string is an escape, or ends it. */
// oxlint-disable-next-line no-control-regex -- they are not allowed in JSON strings
const LITERAL = /^[^"\\\u0000-\u001f]*$/;

/**
 * The surroundings of the only text in an event. Events that share them differ in that text alone, so what is known of one event's other
 * members holds for all, and none of them has to be parsed.
 */
export class FrameShape {
  private readonly before: string;
  private readonly after: string;

  constructor(before: string, after: string) {
    this.before = before;
    this.after = after;
  }

  /** The text of an event of this shape; null if the event has another shape, or no text. */
  textIn(event: string): string | null {
    const { before, after } = this;
    const end = event.length - after.length;
    if (end <= before.length || !event.startsWith(before) || !event.endsWith(after)) return null;
    const written = event.slice(before.length, end);
    return LITERAL.test(written) ? written : unescaped(written);
  }

  /** The event with this text. */
  eventWith(text: string): string {
    return this.before + escaped(text) + this.after;
  }
}

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);

function unescaped(written: string): string | null {
  try {
    return JSON.parse(`"${written}"`) as string;
  } catch {
    return null;
  }
}

/** The shape of an event in which a member has this text. Which member that is, if several have the name, is for the caller to check. */
export function shapeAround(event: string, member: string, text: string): FrameShape | null {
  for (const opening of [`"${member}":"`, `"${member}": "`]) {
    const written = `${opening}${escaped(text)}"`;
    const at = event.indexOf(written);
    if (at >= 0) return new FrameShape(event.slice(0, at + opening.length), event.slice(at + written.length - 1));
  }
  return null;
}

/** An event of a known shape. */
export class ShapedFrame implements Frame {
  readonly bytes: Uint8Array;
  readonly closes = false;
  changed = false;
  private readonly shape: FrameShape;
  private text: string;

  constructor(bytes: Uint8Array, shape: FrameShape, text: string) {
    this.bytes = bytes;
    this.shape = shape;
    this.text = text;
  }

  get said(): string {
    return this.text;
  }

  say(text: string): void {
    this.text = text;
    this.changed = true;
  }

  /** The event as it is now. */
  get event(): string {
    return this.shape.eventWith(this.text);
  }

  /** Parsed anew each time, because hardly anybody needs it. */
  get body(): JsonObject | null {
    return objectInJson(frameData(this.event) ?? "");
  }
}
