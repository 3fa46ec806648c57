import type { StreamCodec, StreamEnding, StreamPiece } from "../../wire/stream.ts";
import type { Usage } from "../../wire/usage.ts";

/** A stream around another one: what is known of the answer is what the inner one knows. */
export abstract class WrappedStream implements StreamCodec {
  protected readonly inner: StreamCodec;

  constructor(inner: StreamCodec) {
    this.inner = inner;
  }

  abstract end(): StreamEnding;

  /** What becomes of a piece that the inner stream gave, or had given before this one was around it. */
  abstract pass(piece: StreamPiece): StreamPiece;

  push(piece: Uint8Array): StreamPiece {
    return this.pass(this.inner.push(piece));
  }

  get closed(): boolean {
    return this.inner.closed === true;
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
}
