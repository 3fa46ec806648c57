import type { InTurns } from "../../kernel/scheduling/in-turns.ts";
import type { ServiceTier, Usage } from "../usage.ts";

/** Bytes to hand on now; null when there are none. */
export type StreamPiece = Uint8Array | null;

export interface StreamEnding {
  /** False for a torn answer, and for one whose provider reported an error. */
  readonly complete: boolean;
  /** What must wait for the audit row. */
  readonly last: StreamPiece;
  /** Whether the provider's own error reaches the caller, in the caller's format, with what was handed on or is `last`. */
  readonly errorReported: boolean;
}

/** Translates one answer from the provider's frames to the caller's. Stateful, one for each attempt, no I/O. */
export interface StreamCodec {
  push(piece: Uint8Array): StreamPiece;
  /** Call once the provider ended its stream. */
  end(): StreamEnding;
  /** As `push` and `end`, for who can let others have their turn meanwhile; only where looking at the answer may take long. */
  pushing?(piece: Uint8Array): InTurns<StreamPiece>;
  ending?(): InTurns<StreamEnding>;
  /** True once the provider has said that nothing follows: what its connection does then is no part of the answer. */
  readonly closed?: boolean;
  /**
   * Whether anything of the answer itself (a text, a tool call, its end) has been seen: before that another provider can still be tried.
   */
  readonly begun: boolean;
  /** As the provider told it; null when it never did. */
  readonly usage: Usage | null;
  /** How it is served, where the provider said so apart from its usage. */
  readonly served?: ServiceTier | undefined;
  /** Rough length of the output seen, for an estimate when the stream ends before its usage. */
  readonly outputLength: number;
  /** What the provider itself reported as an error inside the stream. */
  readonly providerError: string | null;
}

/** What a stream that no model writes says of itself: nothing of it is metered, and nothing of it can be tried again. */
export const UNMETERED = { begun: true, usage: null, outputLength: 0, providerError: null } as const;

/** A stream that is handed on as it comes and may end at any time. */
export const PASSED_STREAM: StreamCodec = {
  ...UNMETERED,
  push: (piece) => piece,
  end: () => ({ complete: true, last: null, errorReported: false }),
};
