import { concat } from "./adjoining-bytes.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { filledOf, objectOf } from "../openai/loose-fields.ts";
import { frameData, isWholeEvent } from "./sse-data.ts";
import { FrameCutter } from "./sse-frames.ts";
import type { StreamCodec, StreamEnding, StreamPiece } from "./stream.ts";
import type { Usage } from "../usage.ts";

/** The role of an event in an answer: a part of it, possibly its last, or certainly its last. */
export type EventPlace = "within" | "may_end" | "ends";

const decoder = new TextDecoder();

/** Passes events of OpenAI's API through unchanged. Events that end the answer are held back until the audit row is sealed. */
export abstract class PassedEvents implements StreamCodec {
  private readonly cutter: FrameCutter;
  /** Events that are last so far. */
  private held: Uint8Array[] = [];
  closed = false;
  begun = false;
  providerError: string | null = null;

  /** `most` is the maximum size of one event in bytes. */
  constructor(most?: number) {
    this.cutter = new FrameCutter(most);
  }

  abstract get usage(): Usage | null;
  abstract get outputLength(): number;
  /** Whether the answer is complete. */
  protected abstract get complete(): boolean;
  /** Called for every event except errors. */
  protected abstract read(event: JsonObject, type: string): EventPlace;

  push(piece: Uint8Array): StreamPiece {
    const passing: Uint8Array[] = [];
    for (const frame of this.cutter.push(piece)) this.take(frame, passing);
    return passing.length === 0 ? null : concat(passing);
  }

  end(): StreamEnding {
    const rest = this.cutter.rest();
    const last: Uint8Array[] = [];
    if (isWholeEvent(rest)) this.take(rest, last);
    last.push(...this.held);
    return {
      complete: this.complete && this.providerError === null,
      last: last.length === 0 ? null : concat(last),
      errorReported: this.providerError !== null,
    };
  }

  private take(frame: Uint8Array, passing: Uint8Array[]): void {
    const data = frameData(decoder.decode(frame));
    if (this.closed) {
      this.held.push(frame);
      return;
    }
    if (data?.trim() === "[DONE]") {
      this.held.push(frame);
      this.closed = true;
      return;
    }
    // A comment does not show whether more events follow.
    if (data === null && this.held.length > 0) return;
    const place = data === null ? "within" : this.placeOf(data);
    passing.push(...this.held);
    this.held = [];
    if (place === "within") passing.push(frame);
    else this.held.push(frame);
    this.closed = place === "ends";
  }

  private placeOf(data: string): EventPlace {
    let event: unknown;
    try {
      event = JSON.parse(data);
    } catch {
      // Not valid JSON: passed unchanged.
      return "within";
    }
    if (!isObject(event)) return "within";
    const type = filledOf(event.type) ?? "";
    if ((event.error ?? null) === null && type !== "error") return this.read(event, type);
    this.providerError = filledOf(objectOf(event.error)?.message) ?? filledOf(event.message) ?? "the provider reported an error";
    return "ends";
  }
}
