import { concat } from "../streams/adjoining-bytes.ts";
import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { type FrameReader, lengthUnder, PassingFrames } from "../streams/passing-frames.ts";
import { frameData, isWholeEvent } from "../streams/sse-data.ts";
import type { StreamCodec, StreamEnding, StreamPiece } from "../streams/stream.ts";
import { type Usage, withOutputSince } from "../usage.ts";
import { BlockFees, codeRun, type VendorFees } from "../vendor-tools.ts";
import { mergeMessagesUsage, readMessagesUsage } from "./usage.ts";

const decoder = new TextDecoder();
const MUST_PARSE = /"(?:message_\w+|error|usage|server_tool_use)"|\r/;
/** The members with the text of a delta. */
const GROWING = ["text", "thinking", "partial_json"];

/**
 * Passes a message's stream through byte for byte. Reads what governance needs (usage, length, end), and holds the closing
 * frame back until the audit row is sealed.
 */
export class MessagesStream implements StreamCodec, FrameReader {
  readonly telling = MUST_PARSE;
  private readonly frames = new PassingFrames(this);
  private counts: JsonObject | null = null;
  private closing: Uint8Array | null = null;
  private finished = false;
  /** Tools seen to start; the usage at the end reports the searches. */
  private readonly blocks = new BlockFees();
  begun = false;
  outputLength = 0;
  providerError: string | null = null;

  get usage(): Usage | null {
    const counted = readMessagesUsage(this.counts);
    const withCodeRuns = counted === null ? null : { ...counted, ...codeRun(this.counts ?? undefined, this.blocks.ranCode) };
    // The first event counts only the first output token; the rest is reported at the end, which a truncated answer lacks.
    if (withCodeRuns === null || this.finished) return withCodeRuns;
    const since = withOutputSince(withCodeRuns, this.outputLength);
    const { webSearches = 0 } = this.fees;
    return webSearches > (since.webSearches ?? 0) ? { ...since, webSearches, estimated: true } : since;
  }

  get fees(): VendorFees {
    return this.blocks.fees;
  }

  get closed(): boolean {
    return this.closing !== null;
  }

  push(piece: Uint8Array): StreamPiece {
    return this.frames.push(piece);
  }

  end(): StreamEnding {
    const rest = this.frames.rest();
    // A truncated event is dropped; a complete one is sent only after the end of the answer or an error.
    if (isWholeEvent(rest) && this.keep(rest) && (this.finished || this.providerError !== null))
      this.closing = this.closing === null ? rest : concat([this.closing, rest]);
    return { complete: this.finished && this.providerError === null, last: this.closing, errorReported: this.providerError !== null };
  }

  passes(): boolean {
    return this.begun && this.closing === null;
  }

  note(text: string): boolean {
    let length = 0;
    for (const member of GROWING) length += lengthUnder(member, text);
    this.outputLength += length;
    return length > 0;
  }

  keep(frame: Uint8Array): boolean {
    const data = frameData(decoder.decode(frame));
    if (data === null) return true;
    let event: JsonValue;
    try {
      event = JSON.parse(data) as JsonValue;
    } catch {
      return true;
    }
    if (!isObject(event)) return true;
    switch (event.type) {
      case "message_start":
        if (isObject(event.message)) this.counts = mergeMessagesUsage(this.counts, event.message.usage);
        return true;
      case "content_block_start":
        // An empty text block is not output yet; every other block is.
        this.begun ||= !isObject(event.content_block) || !OPENED_EMPTY.has(event.content_block.type);
        this.blocks.block(event.content_block);
        return true;
      case "content_block_delta":
        this.begun = true;
        this.outputLength += deltaLength(event.delta);
        return true;
      case "message_delta":
        this.counts = mergeMessagesUsage(this.counts, event.usage);
        if (isObject(event.delta) && typeof event.delta.stop_reason === "string") this.begun = this.finished = true;
        return true;
      case "message_stop":
        this.begun = this.finished = true;
        this.closing = frame;
        return false;
      case "error":
        this.providerError = errorMessage(event.error);
        return true;
      default:
        return true;
    }
  }
}

const OPENED_EMPTY: ReadonlySet<unknown> = new Set(["text", "thinking"]);

function errorMessage(error: JsonValue | undefined): string {
  return isObject(error) && typeof error.message === "string" ? error.message : "the provider reported an error";
}

function deltaLength(delta: JsonValue | undefined): number {
  if (!isObject(delta)) return 0;
  const text = delta.text ?? delta.partial_json ?? delta.thinking;
  return typeof text === "string" ? text.length : 0;
}
