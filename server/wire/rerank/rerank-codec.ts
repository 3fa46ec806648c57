import type { JsonObject } from "../../kernel/json-value.ts";
import type { ProviderOperation } from "../operation.ts";

/** Reranking requests and answers in a provider's format. Pure, without I/O; never throws. */
export interface RerankCodec {
  /** The operation under which the body is sent. */
  readonly operation: ProviderOperation;
  /** `topN` is null for all documents. `unsupported` is a sentence for the caller. */
  write(
    model: string,
    query: string,
    documents: readonly string[],
    topN: number | null,
  ): { readonly body: string } | { readonly unsupported: string };
  /** Best first; null if the answer is invalid. */
  read(answer: JsonObject): readonly RankedDocument[] | null;
}

export interface RankedDocument {
  /** The index in the request's list. */
  readonly index: number;
  readonly score: number;
}
