import type { ModelEntry } from "../../directory/snapshot.ts";
import type { Refusal } from "../../kernel/errors.ts";
import type { Operation } from "../../wire/operation.ts";
import type { StreamCodec } from "../../wire/stream.ts";
import type { Usage } from "../../wire/usage.ts";
import type { Call } from "../../road/call.ts";

/** One thing asked of a provider, able to say itself in whatever format the chosen model's provider speaks. */
export interface Errand {
  /** For one attempt at one model. A refusal means that this model cannot be asked, however often. */
  prepare(call: Call, model: ModelEntry): Prepared | Refusal | Promise<Prepared | Refusal>;
  /** Length of the input, for an estimate when the provider never tells. */
  readonly inputCharacters: number;
}

/** A request in a provider's format, and how its answer becomes the caller's. */
export interface Prepared {
  readonly operation: Operation;
  readonly body: string;
  readonly stream: boolean;
  /** Headers of the caller that this vendor acts on. */
  readonly headers: Readonly<Record<string, string>>;
  /** A new one for each answer; null when the answer is not streamed. */
  streamCodec(): StreamCodec | null;
  /** Content type of a streamed answer as the caller gets it; null passes the provider's. */
  readonly streamType: string | null;
  /** A whole successful answer; null when the bytes are not one. */
  whole(bytes: Uint8Array): WholeReading | null;
  /** The provider's refusal in the caller's shape; null passes its bytes. */
  refusal(status: number, bytes: Uint8Array, headers: Headers): Uint8Array | null;
  /** What of the caller's request the provider was not told, by the caller's own names. */
  readonly dropped: readonly string[];
}

export interface WholeReading {
  readonly body: Uint8Array;
  /** Null when the provider told none. */
  readonly usage: Usage | null;
  /** Null where output is not counted in tokens. */
  readonly outputCharacters: number;
}
