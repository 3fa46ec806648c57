import type { Database } from "../../store/database.ts";
import {
  type DocumentToIndex,
  embeddedDigests,
  failDocument,
  type NewChunk,
  postponeDocument,
  renewLease,
  replaceChunks,
  takeUpDocument,
  storeVectors,
} from "../../store/knowledge/knowledge-documents.ts";

import { signsOf, toBytes } from "./vectors.ts";

export type { DocumentToIndex, NewChunk } from "../../store/knowledge/knowledge-documents.ts";

/** How long nobody else takes up a document that was taken up, unless its lease is renewed. */
const LEASE_MS = 5 * 60_000;

/** Documents that wait to be read. What is written of one is written only while it is the one that was taken up. */
export class WaitingDocuments {
  private readonly db: Database;

  constructor(db: Database) {
    this.db = db;
  }

  takeUp(): Promise<DocumentToIndex | null> {
    return takeUpDocument(this.db, LEASE_MS);
  }

  /** False where the document changed meanwhile. */
  hold(document: DocumentToIndex): Promise<boolean> {
    return renewLease(this.db, document, LEASE_MS);
  }

  /** `counts`: towards the attempts that were made. */
  postpone(document: DocumentToIndex, reason: string, afterMs: number, counts: boolean): Promise<void> {
    return postponeDocument(this.db, document, reason, afterMs, counts);
  }

  fail(document: DocumentToIndex, reason: string): Promise<void> {
    return failDocument(this.db, document, reason);
  }

  /** `unembedded`: why passages of it have no vectors; null where none of them wants for one. */
  finish(document: DocumentToIndex, chunks: readonly NewChunk[], unembedded: string | null = null): Promise<void> {
    return replaceChunks(this.db, document, chunks, unembedded);
  }

  /** Digests of what need not be embedded any more. */
  embedded(document: DocumentToIndex, modelId: string): Promise<Set<string>> {
    return embeddedDigests(this.db, document.id, modelId);
  }

  /** Keeps vectors until the document is read to its end, by whomever. */
  keep(document: DocumentToIndex, modelId: string, vectors: readonly (readonly [digest: string, vector: Float32Array])[]): Promise<void> {
    return storeVectors(
      this.db,
      vectors.map(([digest, vector]) => ({
        ...{ document_id: document.id, tenant_id: document.tenant_id, embedding_model_id: modelId, digest },
        ...{ vector: toBytes(vector), signs: signsOf(vector) },
      })),
    );
  }
}
