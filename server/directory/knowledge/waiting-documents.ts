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

/** The lease on a claimed document, which can be renewed. */
const LEASE_MS = 5 * 60_000;

/** Documents waiting to be indexed. Results are written only if the document has not changed since it was claimed. */
export class WaitingDocuments {
  private readonly db: Database;

  constructor(db: Database) {
    this.db = db;
  }

  takeUp(): Promise<DocumentToIndex | null> {
    return takeUpDocument(this.db, LEASE_MS);
  }

  /** Renews the lease; returns false if the document changed meanwhile. */
  hold(document: DocumentToIndex): Promise<boolean> {
    return renewLease(this.db, document, LEASE_MS);
  }

  /** `counts`: whether this counts as an attempt. */
  postpone(document: DocumentToIndex, reason: string, afterMs: number, counts: boolean): Promise<void> {
    return postponeDocument(this.db, document, reason, afterMs, counts);
  }

  fail(document: DocumentToIndex, reason: string): Promise<void> {
    return failDocument(this.db, document, reason);
  }

  /** `unembedded`: why some passages have no vectors; null if none lacks one. */
  finish(document: DocumentToIndex, chunks: readonly NewChunk[], unembedded: string | null = null): Promise<void> {
    return replaceChunks(this.db, document, chunks, unembedded);
  }

  /** Digests of passages that are already embedded. */
  embedded(document: DocumentToIndex, modelId: string): Promise<Set<string>> {
    return embeddedDigests(this.db, document.id, modelId);
  }

  /** Keeps vectors until indexing of the document is finished, by any process. */
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
