import type { InTurns } from "../../kernel/scheduling/in-turns.ts";
import type { StreamEnding, StreamPiece } from "../../wire/streams/stream.ts";
import { WrappedStream } from "../output/wrapped-stream.ts";
import type { StreamAnswer } from "../answer.ts";

/** Keeps what passes through a stream, to be read once it has ended. The stream itself is unchanged. */
export class RecordedStream extends WrappedStream {
  private readonly most: number;
  private readonly kept: Uint8Array[] = [];
  private bytes = 0;

  /** `most`: bytes to keep; nothing is kept of a longer answer. */
  constructor(answer: StreamAnswer, most: number) {
    super(answer.codec);
    this.most = most;
    for (const piece of answer.head) this.keep(piece);
  }

  /** Null if the answer was too long. */
  get pieces(): readonly Uint8Array[] | null {
    return this.bytes > this.most ? null : this.kept;
  }

  *ending(): InTurns<StreamEnding> {
    const end = yield* this.innerEnding();
    this.keep(end.last);
    return end;
  }

  // oxlint-disable-next-line require-yield -- it takes no time
  *passing(piece: StreamPiece): InTurns<StreamPiece> {
    this.keep(piece);
    return piece;
  }

  private keep(piece: StreamPiece): void {
    if (piece === null) return;
    this.bytes += piece.byteLength;
    if (this.bytes <= this.most) this.kept.push(piece);
    else this.kept.length = 0;
  }
}
