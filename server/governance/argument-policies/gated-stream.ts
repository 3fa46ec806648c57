import type { Refusal } from "../../kernel/errors.ts";
import { concat } from "../../wire/sse-frames.ts";
import type { StreamCodec, StreamEnding, StreamPiece } from "../../wire/stream.ts";
import type { Usage } from "../../wire/usage.ts";
import { ArrayFraming, EventFraming, type Frame, type Framing } from "../output/frames.ts";
import type { OutputForm } from "../output/answer-formats.ts";
import type { ToolCallGate } from "./tool-call-gate.ts";

/** What a piece of a stream must hold for a call to be in it. */
const CALL = /call|tool|partial_json/i;

/** A stream in the caller's format whose tool calls pass a gate. After a denial it is read to its end, for its usage. */
export class GatedStream implements StreamCodec {
  private readonly inner: StreamCodec;
  private readonly gate: ToolCallGate;
  private readonly framing: Framing;
  private readonly events: boolean;
  private atBoundary = true;

  constructor(inner: StreamCodec, gate: ToolCallGate, form: OutputForm["framing"]) {
    this.inner = inner;
    this.gate = gate;
    this.events = form === "events";
    this.framing = this.events ? new EventFraming() : new ArrayFraming();
  }

  /** Why the answer is not given; null until its stream has ended. */
  refusal(ended: boolean): Refusal | null {
    return ended ? this.gate.refusal : null;
  }
  get begun(): boolean {
    return this.inner.begun;
  }
  get usage(): Usage | null {
    return this.inner.usage;
  }
  get outputLength(): number {
    return this.inner.outputLength;
  }
  get providerError(): string | null {
    return this.inner.providerError;
  }

  push(piece: Uint8Array): StreamPiece {
    return this.pass(this.inner.push(piece));
  }

  /** What the codec gave before the gate was there. */
  pass(piece: StreamPiece): StreamPiece {
    if (piece === null) return null;
    if (this.inner.providerError !== null) this.gate.breakOff();
    if (this.events) {
      const text = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString("latin1");
      const whole = text.endsWith("\n\n");
      if (whole && this.atBoundary && this.gate.idle && !CALL.test(text)) return piece;
      this.atBoundary = whole;
    }
    return this.written(this.framing.push(piece).flatMap((frame) => this.gate.frame(frame)));
  }

  end(): StreamEnding {
    const { complete, last, told } = this.inner.end();
    const pieces = [this.pass(last)];
    const rest = this.framing.rest();
    if (rest !== null) pieces.push(this.written(this.gate.frame(rest)));
    if (complete) pieces.push(this.written(this.gate.end()));
    const given = pieces.filter((piece) => piece !== null);
    return this.gate.refusal !== null ? { complete: false, last: null, told: false } : { complete, last: given.length === 0 ? null : concat(given), told: told && !this.gate.withheld };
  }

  private written(frames: readonly Frame[]): StreamPiece {
    return frames.length === 0 ? null : concat(frames.map((frame) => this.framing.write(frame)));
  }
}
