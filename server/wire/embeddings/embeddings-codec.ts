import type { JsonValue } from "../../kernel/json-value.ts";
import type { ProviderOperation } from "../operation.ts";

/** Embedding requests and answers in a provider's format. Pure, without I/O; never throws. */
export interface EmbeddingsCodec {
  /** The operation under which the body is sent. */
  readonly operation: ProviderOperation;
  /** `dimensions` is null for the model's default. */
  write(model: string, inputs: readonly string[], dimensions: number | null): EmbeddingsWritten;
  /** The vectors in the order of the texts; null if the answer is invalid. */
  read(answer: JsonValue): EmbeddingsRead | null;
}

/** `unsupported` is a sentence for the caller. */
export type EmbeddingsWritten = { readonly body: string } | { readonly unsupported: string };

export interface EmbeddingsRead {
  readonly vectors: readonly (readonly number[])[];
  /** Null if the answer does not report it. */
  readonly inputTokens: number | null;
}
