import type { Refusal } from "../../kernel/errors.ts";
import { concat } from "../../wire/sse-frames.ts";
import type { StreamCodec, StreamEnding, StreamPiece } from "../../wire/stream.ts";
import type { Usage } from "../../wire/usage.ts";
import type { AnswerGuard } from "./answer-guard.ts";
import { ArrayFraming, EventFraming, type Frame, type Framing } from "./frames.ts";

/** A stream in the caller's format with a guard between the provider's answer and the caller. */
export class GuardedStream implements StreamCodec {
  private readonly inner: StreamCodec;
  private readonly guard: AnswerGuard;
  private readonly framing: Framing;

  constructor(inner: StreamCodec, guard: AnswerGuard, form: "events" | "array") {
    this.inner = inner;
    this.guard = guard;
    this.framing = form === "array" ? new ArrayFraming() : new EventFraming();
  }

  get refusal(): Refusal | null {
    return this.guard.refusal;
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

  /** What the codec gave before it was guarded. */
  pass(piece: StreamPiece): StreamPiece {
    if (piece === null) return null;
    return this.written(this.framing.push(piece));
  }

  end(): StreamEnding {
    const { complete, last, told } = this.inner.end();
    const pieces: Uint8Array[] = [];
    const add = (piece: StreamPiece) => {
      if (piece !== null) pieces.push(piece);
    };
    if (last !== null) add(this.written(this.framing.push(last)));
    const rest = this.framing.rest();
    if (rest !== null) add(this.written([rest]));
    add(this.bytes(this.guard.end()));
    return { complete, last: pieces.length === 0 || this.refusal !== null ? null : concat(pieces), told: told && this.refusal === null };
  }

  private written(frames: readonly Frame[]): StreamPiece {
    return this.bytes(frames.flatMap((frame) => this.guard.frame(frame)));
  }

  private bytes(frames: readonly Frame[]): StreamPiece {
    return frames.length === 0 ? null : concat(frames.map((frame) => this.framing.write(frame)));
  }
}
