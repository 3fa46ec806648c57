import { concat } from "../adjoining-bytes.ts";
import { isObject, type JsonObject } from "../document.ts";
import { filledOf, objectOf, stringOf } from "../openai/loose-fields.ts";
import { frameData, isWholeEvent } from "../sse-data.ts";
import { FrameCutter } from "../sse-frames.ts";
import type { StreamCodec, StreamEnding, StreamPiece } from "../stream.ts";
import type { Usage } from "../usage.ts";
import { usageOfTranscript } from "./transcript-usage.ts";

const decoder = new TextDecoder();

/** A streamed transcript on its way from provider to caller. The event that ends it waits for the audit row. */
export class TranscriptStream implements StreamCodec {
  private readonly cutter = new FrameCutter();
  private readonly closing: Uint8Array[] = [];
  private readonly seconds: number | null;
  private told: JsonObject = {};
  private finished = false;
  begun = false;
  outputLength = 0;
  providerError: string | null = null;

  constructor(seconds: number | null) {
    this.seconds = seconds;
  }

  get usage(): Usage | null {
    return this.begun ? usageOfTranscript(this.told, this.seconds) : null;
  }

  get closed(): boolean {
    return this.closing.length > 0;
  }

  push(piece: Uint8Array): StreamPiece {
    const kept = this.cutter.push(piece).filter((frame) => this.passes(frame));
    return kept.length === 0 ? null : concat(kept);
  }

  end(): StreamEnding {
    const rest = this.cutter.rest();
    if (isWholeEvent(rest) && this.passes(rest)) this.closing.push(rest);
    return {
      complete: this.finished && this.providerError === null,
      last: this.closing.length === 0 ? null : concat(this.closing),
      errorReported: this.providerError !== null,
    };
  }

  private passes(frame: Uint8Array): boolean {
    const data = frameData(decoder.decode(frame));
    let event: unknown = null;
    try {
      event = data === null ? null : JSON.parse(data);
    } catch {
      // Not ours to judge: it passes as it came.
    }
    if (isObject(event)) this.read(event);
    if (!this.finished) return true;
    this.closing.push(frame);
    return false;
  }

  private read(event: JsonObject): void {
    const type = filledOf(event.type) ?? "";
    if ((event.error ?? null) !== null || type === "error") {
      this.providerError = filledOf(objectOf(event.error)?.message) ?? filledOf(event.message) ?? "the provider reported an error";
      return;
    }
    if (!type.startsWith("transcript.text.")) return;
    this.begun = true;
    this.outputLength += (stringOf(event.delta) ?? "").length;
    if (type !== "transcript.text.done") return;
    this.told = event;
    this.finished = true;
  }
}
