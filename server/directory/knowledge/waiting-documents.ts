import type { Database } from "../../store/database.ts";
import {
  type DocumentToIndex,
  failDocument,
  type NewChunk,
  postponeDocument,
  renewLease,
  replaceChunks,
  takeUpDocument,
  vectorsByDigest,
} from "../../store/knowledge-documents.ts";

export type { DocumentToIndex, NewChunk } from "../../store/knowledge-documents.ts";

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

  finish(document: DocumentToIndex, chunks: readonly NewChunk[]): Promise<void> {
    return replaceChunks(this.db, document, chunks);
  }

  /** Of its passages so far, by the digest of what they were made of. */
  vectors(document: DocumentToIndex, modelId: string): Promise<Map<string, Uint8Array>> {
    return vectorsByDigest(this.db, document.id, modelId);
  }
}
