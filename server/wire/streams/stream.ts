import type { InTurns } from "../../kernel/scheduling/in-turns.ts";
import type { ServiceTier, Usage } from "../usage.ts";
import type { VendorFees } from "../vendor-tools.ts";

/** Bytes to send now; null if there are none. */
export type StreamPiece = Uint8Array | null;

export interface StreamEnding {
  /** False if the answer was truncated or its provider reported an error. */
  readonly complete: boolean;
  /** Bytes that may be sent only after the audit row is sealed. */
  readonly last: StreamPiece;
  /** Whether the caller receives the provider's error, in the caller's format, in what was already sent or in `last`. */
  readonly errorReported: boolean;
}

/** Translates one answer's stream from the provider's format to the caller's. Stateful, without I/O; one instance per attempt. */
export interface StreamCodec {
  push(piece: Uint8Array): StreamPiece;
  /** Call when the provider's stream has ended. */
  end(): StreamEnding;
  /** As `push` and `end`, but yielding to other work in between; present only if inspecting the answer may take long. */
  pushing?(piece: Uint8Array): InTurns<StreamPiece>;
  ending?(): InTurns<StreamEnding>;
  /** True once the provider has marked the end: a connection error after that is not an error of the answer. */
  readonly closed?: boolean;
  /** Whether any output (text, tool call or end) was seen; before that, another provider can still be tried. */
  readonly begun: boolean;
  /** As reported by the provider; null if it never was. */
  readonly usage: Usage | null;
  /** Fees seen in the output so far, for an estimate if the stream ends without usage. */
  readonly fees?: VendorFees;
  /** The service tier, if the provider reported it apart from the usage. */
  readonly served?: ServiceTier | undefined;
  /** Approximate length of the output so far in characters, for an estimate if the stream ends without usage. */
  readonly outputLength: number;
  /** The error that the provider reported within the stream. */
  readonly providerError: string | null;
}

/** For streams not produced by a model: not metered and not retried. */
export const UNMETERED = { begun: true, usage: null, outputLength: 0, providerError: null } as const;

/** A stream that passes unchanged and may end at any time. */
export const PASSED_STREAM: StreamCodec = {
  ...UNMETERED,
  push: (piece) => piece,
  end: () => ({ complete: true, last: null, errorReported: false }),
};
