import type { JsonValue } from "../../kernel/json-value.ts";

/** The maximum for which a reranking call can be billed. */
export interface Reranking {
  /** Cohere's billing unit. */
  readonly searchUnits: number;
  /** Everything the model reads, in bytes, with the query repeated for each document. */
  readonly readBytes: number;
}

/** A unit is one query with this many documents. A document longer than the token limit, query included, counts as several. */
const DOCUMENTS_A_UNIT = 100;
const TOKENS_A_DOCUMENT = 500;

/** Counts every byte as a token, which is an upper bound. */
export function rerankingOf(query: JsonValue, documents: readonly JsonValue[]): Reranking {
  const queryBytes = bytesOf(query);
  let [pieces, readBytes] = [0, 0];
  for (const one of documents) {
    const read = queryBytes + bytesOf(one);
    pieces += Math.max(1, Math.ceil(read / TOKENS_A_DOCUMENT));
    readBytes += read;
  }
  return { searchUnits: Math.ceil(pieces / DOCUMENTS_A_UNIT), readBytes };
}

function bytesOf(passage: JsonValue): number {
  return Buffer.byteLength(typeof passage === "string" ? passage : JSON.stringify(passage));
}
