import { isObject, type JsonObject } from "../document.ts";
import { filledOf, objectOf, stringOf } from "../openai/loose-fields.ts";
import { concat, FrameCutter, frameData, isWholeEvent } from "../sse-frames.ts";
import type { StreamCodec, StreamEnding, StreamPiece } from "../stream.ts";
import type { Usage } from "../usage.ts";
import { usageOfResponse } from "./usage.ts";

const decoder = new TextDecoder();

/**
 * A streamed response on its way from provider to caller, byte for byte. The event that ends it is handed over last, with
 * whatever follows it, so that it can wait for the audit row.
 */
export class ResponsesStream implements StreamCodec {
  private readonly cutter = new FrameCutter();
  private readonly closing: Uint8Array[] = [];
  private finished = false;
  usage: Usage | null = null;
  outputLength = 0;
  begun = false;
  providerError: string | null = null;

  push(piece: Uint8Array): StreamPiece {
    const plain = this.cutter.isEmpty && this.closing.length === 0 ? plainDeltas(piece) : 0;
    if (plain > 0) {
      this.outputLength += plain;
      this.begun = true;
      return piece;
    }
    const kept: Uint8Array[] = [];
    for (const frame of this.cutter.push(piece)) if (this.keep(frame)) kept.push(frame);
    return kept.length === 0 ? null : concat(kept);
  }

  /** Call once the provider has ended its stream. A response the provider let fail is not complete; its own event still goes out. */
  end(): StreamEnding {
    const rest = this.cutter.rest();
    if (isWholeEvent(rest) && this.keep(rest)) this.closing.push(rest);
    return { complete: this.finished && this.providerError === null, last: this.closing.length === 0 ? null : concat(this.closing), told: this.providerError !== null };
  }

  private keep(frame: Uint8Array): boolean {
    const closed = this.closing.length > 0;
    const data = frameData(decoder.decode(frame));
    let event: unknown = null;
    try {
      event = data === null ? null : JSON.parse(data);
    } catch {
      // Not ours to judge: it passes as it came.
    }
    if (isObject(event)) this.read(event);
    if (!closed && !this.finished && !(isObject(event) && event.type === "response.failed")) return true;
    this.closing.push(frame);
    return false;
  }

  private read(event: JsonObject): void {
    const type = filledOf(event.type) ?? "";
    const response = objectOf(event.response);
    if (response !== null) this.usage = usageOfResponse(response) ?? this.usage;
    switch (type) {
      case "response.completed":
      case "response.incomplete":
        this.finished = true;
        this.begun = true;
        return;
      case "response.failed":
        this.providerError = filledOf(objectOf(response?.error)?.message) ?? "the provider let the response fail";
        return;
      case "error":
        this.providerError = filledOf(event.message) ?? filledOf(objectOf(event.error)?.message) ?? "the provider reported an error";
        return;
      case "response.output_item.added":
        if (objectOf(event.item)?.type !== "message" && objectOf(event.item)?.type !== "reasoning") this.begun = true;
        return;
      default:
        if (type === "" && event.error !== undefined && event.error !== null) this.providerError = filledOf(objectOf(event.error)?.message) ?? textOfError(event.error);
        if (type.endsWith(".delta")) {
          const length = stringOf(event.delta)?.length ?? 0;
          this.outputLength += length;
          if (length > 0) this.begun = true;
        } else if (type.endsWith(".done")) this.begun = true;
    }
  }
}

function textOfError(error: unknown): string {
  return filledOf(error) ?? "the provider reported an error";
}

/** What makes an event worth parsing: a whole response, an error, an item. Inside a text such a word has its quotes escaped. */
const TELLING = /"response"\s*:|"item"\s*:|"error"|\r/;
const DELTA = '"delta":"';

/** Length of the deltas in a piece of whole events that hold deltas and nothing else to act on; 0 for every other piece. */
function plainDeltas(piece: Uint8Array): number {
  const text = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString("latin1");
  if (!text.endsWith("\n\n") || TELLING.test(text)) return 0;
  let length = 0;
  for (let at = text.indexOf(DELTA); at >= 0; at = text.indexOf(DELTA, at)) {
    const from = at + DELTA.length;
    // Up to the next quote is near enough for an estimate.
    const end = text.indexOf('"', from);
    if (end < 0) return 0;
    length += end - from;
    at = end;
  }
  return length;
}
