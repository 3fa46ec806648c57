import type { ServiceTier, Usage } from "../usage.ts";
import type { VendorFees } from "../vendor-tools.ts";
import type { StreamCodec, StreamEnding } from "./stream.ts";

/** A stream whose provider has sent all of it, and whose codec was told so. */
export class EndedStream implements StreamCodec {
  private readonly codec: StreamCodec;
  private readonly ended: StreamEnding;
  readonly closed = true;
  readonly begun = true;

  constructor(codec: StreamCodec, ended: StreamEnding) {
    this.codec = codec;
    this.ended = ended;
  }

  push(): null {
    return null;
  }
  end(): StreamEnding {
    return this.ended;
  }
  get usage(): Usage | null {
    return this.codec.usage;
  }
  get fees(): VendorFees {
    return this.codec.fees ?? {};
  }
  get served(): ServiceTier | undefined {
    return this.codec.served;
  }
  get outputLength(): number {
    return this.codec.outputLength;
  }
  get providerError(): string | null {
    return this.codec.providerError;
  }
}
