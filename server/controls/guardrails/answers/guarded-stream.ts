import type { Refusal } from "../../../kernel/errors.ts";
import type { InTurns } from "../../../kernel/scheduling/in-turns.ts";
import type { StreamCodec, StreamEnding, StreamPiece } from "../../../wire/streams/stream.ts";
import type { AnswerGuard } from "./answer-guard.ts";
import type { OutputForm } from "../../../wire/output-form.ts";
import { FramedStream } from "../../../road/output/framed-stream.ts";
import type { Frame } from "../../../road/output/frames.ts";

/** A stream in the caller's format, guarded between provider and caller. */
export class GuardedStream extends FramedStream {
  private readonly guard: AnswerGuard;
  private reported: string | null = null;

  constructor(inner: StreamCodec, guard: AnswerGuard, form: OutputForm["framing"]) {
    super(inner, form);
    this.guard = guard;
  }

  get refusal(): Refusal | null {
    return this.guard.refusal;
  }

  /** Redacted, because it is recorded on the audit row. */
  override get providerError(): string | null {
    const { providerError } = this.inner;
    return providerError === null ? null : (this.reported ??= this.guard.redacted(providerError));
  }

  *passing(piece: StreamPiece): InTurns<StreamPiece> {
    return piece === null ? null : yield* this.guarded(this.framing.reading(piece, this.guard.shape));
  }

  *ending(): InTurns<StreamEnding> {
    const { complete, last, errorReported: wasErrorReported } = yield* this.innerEnding();
    const pieces = [yield* this.passing(last)];
    const rest = this.framing.rest();
    if (rest !== null) pieces.push(yield* this.guarded([rest]));
    pieces.push(this.written(yield* this.guard.end()));
    return { complete, last: this.refusal === null ? this.joined(pieces) : null, errorReported: wasErrorReported && this.refusal === null };
  }

  private *guarded(frames: Iterable<Frame>): InTurns<StreamPiece> {
    return this.written(yield* this.guard.frames(frames));
  }
}
