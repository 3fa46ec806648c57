import type { JsonValue } from "../../kernel/json-value.ts";
import type { ProviderOperation } from "../operation.ts";

/** Vectors of texts in a provider's own format. Pure, no I/O, never throws. */
export interface EmbeddingsCodec {
  /** What the body is sent as. */
  readonly operation: ProviderOperation;
  /** `dimensions` null: as many as the model gives by itself. */
  write(model: string, inputs: readonly string[], dimensions: number | null): EmbeddingsWritten;
  /** The vectors in the order of the texts; null when the answer is none. */
  read(answer: JsonValue): EmbeddingsRead | null;
}

/** `unsupported` is a sentence for the caller. */
export type EmbeddingsWritten = { readonly body: string } | { readonly unsupported: string };

export interface EmbeddingsRead {
  readonly vectors: readonly (readonly number[])[];
  /** Null where the answer does not say. */
  readonly inputTokens: number | null;
}
