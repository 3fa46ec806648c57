import type { Refusal } from "../../kernel/errors.ts";
import type { InTurns } from "../../kernel/scheduling/in-turns.ts";
import type { StreamCodec, StreamEnding, StreamPiece } from "../../wire/streams/stream.ts";
import type { OutputForm } from "../../wire/output-form.ts";
import { FramedStream } from "../../road/output/framed-stream.ts";
import type { Frame } from "../../road/output/frames.ts";
import type { ToolCallGate } from "./tool-call-gate.ts";

/** Matches pieces that may contain a tool call; also escaped letters, which a name could be written with although no vendor does so. */
const CALL = /call|tool|partial_json|approval|\\u00[4-7]/i;

/** A stream in the caller's format whose tool calls pass a gate. After a denial it is still read to the end, for its usage. */
export class GatedStream extends FramedStream {
  private readonly gate: ToolCallGate;
  private readonly events: boolean;
  private atBoundary = true;

  constructor(inner: StreamCodec, gate: ToolCallGate, form: OutputForm["framing"]) {
    super(inner, form);
    this.gate = gate;
    this.events = form === "events";
  }

  /** Why the answer is not given; null until its stream has ended. */
  refusal(ended: boolean): Refusal | null {
    return ended ? this.gate.refusal : null;
  }

  *passing(piece: StreamPiece): InTurns<StreamPiece> {
    if (piece === null) return null;
    if (this.inner.providerError !== null) this.gate.breakOff();
    if (this.events) {
      const text = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString("latin1");
      const whole = text.endsWith("\n\n");
      if (whole && this.atBoundary && this.gate.idle && !CALL.test(text)) return piece;
      this.atBoundary = whole;
    }
    const out: Frame[] = [];
    for (const frame of this.framing.push(piece)) out.push(...(yield* this.gate.frame(frame)));
    return this.written(out);
  }

  *ending(): InTurns<StreamEnding> {
    const { complete, last, errorReported: wasErrorReported } = yield* this.innerEnding();
    const pieces = [yield* this.passing(last)];
    const rest = this.framing.rest();
    if (rest !== null) pieces.push(this.written(yield* this.gate.frame(rest)));
    if (complete) pieces.push(this.written(yield* this.gate.end()));
    return this.gate.refusal !== null
      ? { complete: false, last: null, errorReported: false }
      : { complete, last: this.joined(pieces), errorReported: wasErrorReported && !this.gate.withheld };
  }
}
