import { concat } from "../streams/adjoining-bytes.ts";
import { isObject } from "../../kernel/json-value.ts";
import { closingQuote } from "../streams/passing-frames.ts";
import { frameData, isWholeEvent } from "../streams/sse-data.ts";
import { FrameCutter } from "../streams/sse-frames.ts";
import type { StreamCodec, StreamEnding, StreamPiece } from "../streams/stream.ts";
import type { Usage } from "../usage.ts";
import type { VendorFees } from "../vendor-tools.ts";
import { ArrayCutter, elementData } from "./array-cutter.ts";
import { geminiOutputLength, hasGeminiMedia } from "./gemini-reply.ts";
import { Grounding } from "./grounding.ts";
import { member, objectIn, objectsIn, textIn } from "./members.ts";
import { readGeminiUsage } from "./usage.ts";
import { bareJsonFrame, bodyIn } from "./gemini-body.ts";

const decoder = new TextDecoder();

interface Cutter {
  push(piece: Uint8Array): Uint8Array[];
  rest(): Uint8Array;
}

/**
 * Passes a streamed answer through byte for byte. The format has no closing frame, so from the first finish reason on the
 * newest frame is held back: the last one must wait until the audit row is sealed.
 */
abstract class PassingStream implements StreamCodec {
  protected abstract readonly cutter: Cutter;
  private held: Uint8Array | null = null;
  protected finished = false;
  protected lastUsage: Usage | null = null;
  protected readonly grounding = new Grounding();
  private errorFramed = false;
  begun = false;
  outputLength = 0;
  providerError: string | null = null;

  get usage(): Usage | null {
    return this.grounding.of(this.lastUsage);
  }

  get fees(): VendorFees {
    return this.grounding.fees;
  }

  push(piece: Uint8Array): StreamPiece {
    return this.release(this.cutter.push(piece));
  }

  end(): StreamEnding {
    const rest = this.cutter.rest();
    const parts = this.held === null ? [] : [this.held];
    const closes = this.closes(rest);
    if (rest.byteLength > 0) this.read(rest, closes);
    if (closes && rest.byteLength > 0) parts.push(rest);
    const whole = closes || !this.needsClosing;
    return {
      complete: this.finished && this.providerError === null && whole,
      last: parts.length === 0 ? null : concat(parts),
      errorReported: this.errorFramed && whole,
    };
  }

  /** Whether an answer without closing bytes after its last frame is incomplete. */
  protected abstract readonly needsClosing: boolean;
  /** Whether the bytes after the last whole frame are a valid end of the answer. */
  protected abstract closes(rest: Uint8Array): boolean;

  private release(frames: readonly Uint8Array[]): StreamPiece {
    const out: Uint8Array[] = [];
    for (const frame of frames) {
      this.read(frame);
      if (this.held !== null) out.push(this.held);
      this.held = this.finished ? frame : null;
      if (!this.finished) out.push(frame);
    }
    return out.length === 0 ? null : concat(out);
  }

  /** The JSON text in a frame; null if there is none. */
  protected abstract dataOf(frame: string): string | null;
  /** Whether clients of this framing recognize the JSON text in it. */
  protected abstract isFramed(frame: string): boolean;

  /** `passed`: whether the caller receives these bytes. */
  protected read(bytes: Uint8Array, passed = true): void {
    const frame = decoder.decode(bytes);
    const data = this.dataOf(frame);
    const body = data === null ? null : bodyIn(data);
    if (body === null) return;
    const error = member(body, "error");
    if (error !== undefined) {
      this.errorFramed ||= passed && this.isFramed(frame);
      this.providerError = (isObject(error) ? textIn(error, "message") : null) ?? "the provider reported an error";
      return;
    }
    const usage = readGeminiUsage(member(body, "usageMetadata"));
    if (usage !== null) this.lastUsage = usage;
    this.grounding.read(body);
    const length = geminiOutputLength(body);
    this.outputLength += length;
    this.begun ||= length > 0 || hasGeminiMedia(body);
    const feedback = objectIn(body, "promptFeedback");
    if (feedback !== null && textIn(feedback, "blockReason") !== null) this.finished = true;
    for (const candidate of objectsIn(body, "candidates")) if (textIn(candidate, "finishReason") !== null) this.finished = true;
    if (this.finished) this.begun = true;
  }
}

/** Server-sent events (`alt=sse`). */
export class GeminiStream extends PassingStream {
  protected readonly cutter = new FrameCutter();
  protected readonly needsClosing = false;
  /** The newest frame without special members, whose usage is parsed only on demand. */
  private unread: string | null = null;

  override get usage(): Usage | null {
    if (this.unread !== null) {
      const piece = this.unread;
      this.unread = null;
      for (const frame of piece.split(/\r?\n\r?\n/)) this.lastUsage = usageIn(frameData(frame)) ?? this.lastUsage;
    }
    return this.grounding.of(this.lastUsage);
  }

  override push(piece: Uint8Array): StreamPiece {
    const text = this.cutter.isEmpty && !this.finished ? latin1(piece) : null;
    const length = text === null ? null : plainText(text);
    if (text === null || length === null) return super.push(piece);
    this.outputLength += length;
    if (length > 0) this.begun = true;
    if (text.includes('"usageMetadata"') || text.includes('"usage_metadata"')) this.unread = text;
    return piece;
  }

  protected override read(bytes: Uint8Array, passed = true): void {
    // The unparsed frame is older than this one.
    this.lastUsage = this.usage;
    super.read(bytes, passed);
  }

  protected isFramed(frame: string): boolean {
    return frameData(frame) !== null;
  }

  protected closes(rest: Uint8Array): boolean {
    return isWholeEvent(rest);
  }

  /** An error may also come as bare JSON without SSE framing. */
  protected dataOf(frame: string): string | null {
    return frameData(frame) ?? bareJsonFrame(frame);
  }
}

/** One JSON array, for streaming callers that did not request events. */
export class GeminiArrayStream extends PassingStream {
  protected readonly cutter = new ArrayCutter();
  /** Without its closing bracket the array is not valid JSON. */
  protected readonly needsClosing = true;

  protected closes(rest: Uint8Array): boolean {
    return decoder.decode(rest).trim() === "]";
  }

  protected dataOf(element: string): string {
    return elementData(element);
  }

  protected isFramed(): boolean {
    return true;
  }
}

function usageIn(data: string | null): Usage | null {
  const body = data === null ? null : bodyIn(data);
  return body === null ? null : readGeminiUsage(member(body, "usageMetadata"));
}

const latin1 = (piece: Uint8Array) => Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString("latin1");

/** Matches frames that must be parsed. Text inside a JSON string cannot match as a member name, because its quotes are escaped. */
const MUST_PARSE = new RegExp(
  String.raw`"(?:error|finishReason|finish_reason|functionCall|function_call|promptFeedback|prompt_feedback|executableCode|` +
    String.raw`inlineData|inline_data|groundingMetadata|grounding_metadata)"`,
);
const TEXT = /"text":\s*"/g;

/**
 * The encoded length in bytes of the texts in a piece that consists of whole frames with nothing but texts; null for any
 * other piece. Nearly all pieces are like that and need not be parsed, at a fraction of the cost.
 */
function plainText(text: string): number | null {
  if (!text.startsWith("data:") || !(text.endsWith("\n\n") || text.endsWith("\r\n\r\n")) || MUST_PARSE.test(text)) return null;
  let length = 0;
  TEXT.lastIndex = 0;
  for (let match = TEXT.exec(text); match !== null; match = TEXT.exec(text)) {
    const end = closingQuote(text, TEXT.lastIndex);
    if (end < 0) return null;
    length += end - TEXT.lastIndex;
    TEXT.lastIndex = end;
  }
  return length;
}
