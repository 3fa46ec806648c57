import { type JsonObject, objectInJson } from "../../kernel/json-value.ts";
import { frameData } from "../../wire/streams/sse-data.ts";

/** Anything else in a JSON string is an escape, or ends it. */
// oxlint-disable-next-line no-control-regex -- they are not allowed in JSON strings
const LITERAL = /^[^"\\\u0000-\u001f]*$/;
/** Random letters, by which OpenAI keeps the sizes of events from telling their text. */
const PADDING = /(?<!\\)"obfuscation": ?"[A-Za-z0-9]*"/;
const OF_PADDING = /^[A-Za-z0-9]*$/;

/**
 * The surroundings of the only text in an event. Events that share them differ in that text alone, and perhaps in padding, so what is known
 * of one event's other members holds for all, and none of them has to be parsed.
 */
export class FrameShape {
  private readonly before: string;
  /** From the quote that closes the text, up to the padding if there is any. */
  private readonly after: string;
  /** What follows the padding; null if there is none. */
  private readonly last: string | null;

  constructor(before: string, behind: string) {
    const padding = PADDING.exec(behind);
    const end = padding === null ? behind.length : padding.index + padding[0].length - 1;
    this.before = before;
    this.after = padding === null ? behind : behind.slice(0, behind.lastIndexOf('"', end - 1) + 1);
    this.last = padding === null ? null : behind.slice(end);
  }

  /** The frame of an event of this shape; null if the event has another shape, or no text. */
  frameOf(bytes: Uint8Array, event: string): ShapedFrame | null {
    const start = this.before.length;
    if (!event.startsWith(this.before)) return null;
    const end = this.endOfText(event);
    if (end <= start) return null;
    const written = event.slice(start, end);
    const text = LITERAL.test(written) ? written : unescaped(written);
    return text === null ? null : new ShapedFrame(bytes, event, start, end, text);
  }

  /** Negative if the event has another shape. */
  private endOfText(event: string): number {
    const { before, after, last } = this;
    if (last === null) return event.endsWith(after) ? event.length - after.length : -1;
    const end = event.endsWith(last) ? event.indexOf(after, before.length) : -1;
    return end >= 0 && OF_PADDING.test(event.slice(end + after.length, event.length - last.length)) ? end : -1;
  }
}

function unescaped(written: string): string | null {
  try {
    return JSON.parse(`"${written}"`) as string;
  } catch {
    return null;
  }
}

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);

/** An event and its shape, in which a member has this text. Which member that is, if several have the name, is for the caller to check. */
export function shapedFrame(bytes: Uint8Array, event: string, member: string, text: string): readonly [ShapedFrame, FrameShape] | null {
  for (const opening of [`"${member}":"`, `"${member}": "`]) {
    const written = `${opening}${escaped(text)}"`;
    const at = event.indexOf(written);
    if (at < 0) continue;
    const [start, end] = [at + opening.length, at + written.length - 1];
    return [new ShapedFrame(bytes, event, start, end, text), new FrameShape(event.slice(0, start), event.slice(end))];
  }
  return null;
}

/** An event of a known shape, with its text between two offsets. */
export class ShapedFrame {
  readonly bytes: Uint8Array;
  readonly closes = false;
  changed = false;
  said: string;
  private readonly came: string;
  private readonly start: number;
  private readonly end: number;

  constructor(bytes: Uint8Array, event: string, start: number, end: number, text: string) {
    this.bytes = bytes;
    this.came = event;
    this.start = start;
    this.end = end;
    this.said = text;
  }

  say(text: string): void {
    this.said = text;
    this.changed = true;
  }

  /** The event as it is now. */
  get event(): string {
    return this.changed ? this.came.slice(0, this.start) + escaped(this.said) + this.came.slice(this.end) : this.came;
  }

  /** Parsed anew each time, because hardly anybody needs it. */
  get body(): JsonObject | null {
    return objectInJson(frameData(this.event) ?? "");
  }
}
