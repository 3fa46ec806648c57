import { runToEnd, type InTurns } from "../../kernel/scheduling/in-turns.ts";
import type { StreamCodec, StreamEnding, StreamPiece } from "../../wire/streams/stream.ts";
import type { ServiceTier, Usage } from "../../wire/usage.ts";
import type { VendorFees } from "../../wire/vendor-tools.ts";

/** A stream around another one, which reports the inner stream's state and usage. */
export abstract class WrappedStream implements StreamCodec {
  protected readonly inner: StreamCodec;

  constructor(inner: StreamCodec) {
    this.inner = inner;
  }

  /** Transforms a piece that the inner stream produced, also one produced before it was wrapped. */
  abstract passing(piece: StreamPiece): InTurns<StreamPiece>;

  abstract ending(): InTurns<StreamEnding>;

  *pushing(piece: Uint8Array): InTurns<StreamPiece> {
    const { inner } = this;
    return yield* this.passing(inner.pushing === undefined ? inner.push(piece) : yield* inner.pushing(piece));
  }

  protected *innerEnding(): InTurns<StreamEnding> {
    const { inner } = this;
    return inner.ending === undefined ? inner.end() : yield* inner.ending();
  }

  push(piece: Uint8Array): StreamPiece {
    return runToEnd(this.pushing(piece));
  }

  end(): StreamEnding {
    return runToEnd(this.ending());
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
  get fees(): VendorFees {
    return this.inner.fees ?? {};
  }
  get served(): ServiceTier | undefined {
    return this.inner.served;
  }
  get outputLength(): number {
    return this.inner.outputLength;
  }
  get providerError(): string | null {
    return this.inner.providerError;
  }
}

/** Passes pieces produced before the stream was wrapped through the wrapper. */
export function* passedHead(codec: WrappedStream, head: readonly Uint8Array[]): InTurns<Uint8Array[]> {
  const out: Uint8Array[] = [];
  for (const piece of head) {
    const passed = yield* codec.passing(piece);
    if (passed !== null) out.push(passed);
  }
  return out;
}
