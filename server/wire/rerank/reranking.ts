import type { JsonValue } from "../../kernel/json-value.ts";

/** The most that ordering documents by a query can be billed as. */
export interface Reranking {
  /** Cohere's unit of billing. */
  readonly searchUnits: number;
  /** All that the model reads, bytes: the query anew beside each document. */
  readonly readBytes: number;
}

/** A unit is one query over so many documents, and a document that is longer than this together with the query counts as several. */
const DOCUMENTS_A_UNIT = 100;
const TOKENS_A_DOCUMENT = 500;

/** A token is no less than a byte. */
export function rerankingOf(query: JsonValue, documents: readonly JsonValue[]): Reranking {
  const asked = bytesOf(query);
  let [pieces, readBytes] = [0, 0];
  for (const one of documents) {
    const read = asked + bytesOf(one);
    pieces += Math.max(1, Math.ceil(read / TOKENS_A_DOCUMENT));
    readBytes += read;
  }
  return { searchUnits: Math.ceil(pieces / DOCUMENTS_A_UNIT), readBytes };
}

function bytesOf(passage: JsonValue): number {
  return Buffer.byteLength(typeof passage === "string" ? passage : JSON.stringify(passage));
}
