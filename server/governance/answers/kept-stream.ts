import type { StreamCodec, StreamEnding, StreamPiece } from "../../wire/stream.ts";
import type { Usage } from "../../wire/usage.ts";
import type { StreamAnswer } from "../surface.ts";

/** Keeps what passes through a stream, so that it can be read once it has ended. What passes is not changed. */
export class KeptStream implements StreamCodec {
  private readonly inner: StreamCodec;
  private readonly most: number;
  private readonly kept: Uint8Array[] = [];
  private bytes = 0;

  /** `most`: bytes; of a longer answer nothing is kept. */
  constructor(answer: StreamAnswer, most: number) {
    this.inner = answer.codec;
    this.most = most;
    for (const piece of answer.head) this.keep(piece);
  }

  /** Null when the answer was too long. */
  get pieces(): readonly Uint8Array[] | null {
    return this.bytes > this.most ? null : this.kept;
  }

  push(piece: Uint8Array): StreamPiece {
    return this.keep(this.inner.push(piece));
  }

  end(): StreamEnding {
    const end = this.inner.end();
    this.keep(end.last);
    return end;
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

  private keep(piece: StreamPiece): StreamPiece {
    if (piece === null) return null;
    this.bytes += piece.byteLength;
    if (this.bytes <= this.most) this.kept.push(piece);
    else this.kept.length = 0;
    return piece;
  }
}
