import type { JsonObject } from "../../kernel/json-value.ts";
import type { ProviderOperation } from "../operation.ts";

/** Documents ordered by a query in a provider's own format. Pure, no I/O, never throws. */
export interface RerankCodec {
  /** What the body is sent as. */
  readonly operation: ProviderOperation;
  /** `topN` null: all of them. `unsupported` is a sentence for the caller. */
  write(
    model: string,
    query: string,
    documents: readonly string[],
    topN: number | null,
  ): { readonly body: string } | { readonly unsupported: string };
  /** Best first; null when the answer is none. */
  read(answer: JsonObject): readonly RankedDocument[] | null;
}

export interface RankedDocument {
  /** In the request's list. */
  readonly index: number;
  readonly score: number;
}
