import { type Insertable, type Selectable, sql } from "kysely";
import type { Database, Trx } from "../database.ts";
import { containing, type Page, type Paged, pageOfRows } from "../records/paging.ts";
import type { KnowledgeChunkTable, KnowledgeDocumentTable, KnowledgeVectorTable } from "../tables/knowledge.ts";

export type KnowledgeDocumentRow = Omit<Selectable<KnowledgeDocumentTable>, "content">;

const FACTS = [
  "id",
  "knowledge_base_id",
  "tenant_id",
  "name",
  "kind",
  "metadata",
  "digest",
  "size_bytes",
  "revision",
  "status",
  "reason",
  "attempts",
  "due_at",
  "chunk_count",
  "principals",
  "connector_id",
  "created_at",
  "updated_at",
  "processed_at",
] as const;

const inBase = (db: Database | Trx, tenantId: string, baseId: string) =>
  db.selectFrom("knowledge_documents").where("tenant_id", "=", tenantId).where("knowledge_base_id", "=", baseId);

export async function pageOfDocuments(
  db: Database,
  tenantId: string,
  baseId: string,
  filters: { readonly search?: string | undefined; readonly status?: string | undefined },
  page: Page,
): Promise<Paged<KnowledgeDocumentRow>> {
  let query = inBase(db, tenantId, baseId);
  if (filters.search !== undefined) query = query.where("name", "ilike", containing(filters.search));
  if (filters.status !== undefined) query = query.where("status", "=", filters.status);
  return pageOfRows(query, query.select(FACTS).orderBy("name"), page);
}

export function findDocument(db: Database | Trx, tenantId: string, baseId: string, id: string): Promise<KnowledgeDocumentRow | undefined> {
  return inBase(db, tenantId, baseId).select(FACTS).where("id", "=", id).executeTakeFirst();
}

export function documentNamed(trx: Trx, tenantId: string, baseId: string, name: string): Promise<KnowledgeDocumentRow | undefined> {
  return inBase(trx, tenantId, baseId).select(FACTS).where("name", "=", name).forUpdate().executeTakeFirst();
}

export async function insertDocument(trx: Trx, document: Insertable<KnowledgeDocumentTable>): Promise<void> {
  await trx.insertInto("knowledge_documents").values(document).execute();
}

/** Queues a document for indexing, with new content or to index the same again. */
export async function requeueDocument(
  trx: Trx,
  id: string,
  at: Date,
  fresh: Partial<Pick<Insertable<KnowledgeDocumentTable>, "kind" | "metadata" | "content" | "digest" | "size_bytes">> = {},
): Promise<void> {
  await trx
    .updateTable("knowledge_documents")
    .set({ ...fresh, revision: sql<number>`revision + 1`, status: "queued", reason: null, attempts: 0, due_at: at, updated_at: at })
    .where("id", "=", id)
    .execute();
}

/** Changes the metadata of a document whose content stays. */
export async function changeFacts(trx: Trx, id: string, at: Date, metadata: string): Promise<void> {
  await trx.updateTable("knowledge_documents").set({ metadata, updated_at: at }).where("id", "=", id).execute();
}

/** Sets who may find a document, and who may find its current passages. */
export async function setPrincipals(trx: Trx, id: string, principals: string[] | null, ofPassages: string[] | null): Promise<void> {
  await trx.updateTable("knowledge_documents").set({ principals }).where("id", "=", id).execute();
  await trx.updateTable("knowledge_chunks").set({ principals: ofPassages }).where("document_id", "=", id).execute();
}

/** Who may find a document's current passages; null also if it has none. */
export async function principalsOfPassages(trx: Trx, id: string): Promise<string[] | null> {
  const passage = await trx.selectFrom("knowledge_chunks").select("principals").where("document_id", "=", id).limit(1).executeTakeFirst();
  return passage?.principals ?? null;
}

export async function requeueAllDocuments(trx: Trx, baseId: string, at: Date): Promise<void> {
  await trx
    .updateTable("knowledge_documents")
    .set({ revision: sql<number>`revision + 1`, status: "queued", reason: null, attempts: 0, due_at: at })
    .where("knowledge_base_id", "=", baseId)
    .execute();
}

export async function removeDocument(trx: Trx, id: string): Promise<void> {
  await trx.deleteFrom("knowledge_documents").where("id", "=", id).execute();
}

export interface DocumentToIndex extends Selectable<KnowledgeDocumentTable> {
  readonly embedding_model_id: string | null;
  /** The group that pays; null if no group has the knowledge base. */
  readonly group_id: string | null;
}

/**
 * Leases one document for `leaseMs`, of a tenant drawn at random among those that have any, so that a tenant uploading thousands does not
 * hold up the others.
 */
export async function takeUpDocument(db: Database, leaseMs: number): Promise<DocumentToIndex | null> {
  const { rows } = await sql<DocumentToIndex>`
    UPDATE knowledge_documents d
       SET status = 'processing', attempts = d.attempts + 1, due_at = now() + ${leaseMs} * interval '1 millisecond'
      FROM knowledge_bases b
     WHERE b.id = d.knowledge_base_id AND d.id = (
       SELECT due.id FROM (SELECT DISTINCT tenant_id FROM knowledge_documents
                            WHERE status IN ('queued', 'processing') AND due_at <= now()) t
         CROSS JOIN LATERAL (SELECT id FROM knowledge_documents w
                              WHERE w.tenant_id = t.tenant_id AND w.status IN ('queued', 'processing') AND w.due_at <= now()
                              ORDER BY w.due_at LIMIT 1 FOR UPDATE SKIP LOCKED) due
        ORDER BY random() LIMIT 1)
    RETURNING d.*, b.embedding_model_id,
      coalesce(b.indexing_group_id, (SELECT min(g.group_id::text)::uuid FROM knowledge_base_groups g WHERE g.knowledge_base_id = b.id))
        AS group_id`.execute(db);
  return rows[0] ?? null;
}

type Taken = Pick<DocumentToIndex, "id" | "revision">;

/** Queues a document again that cannot be read just now; does nothing if it has changed in the meantime. */
export async function postponeDocument(db: Database, taken: Taken, reason: string, afterMs: number, counts: boolean): Promise<void> {
  await sql`UPDATE knowledge_documents
      SET status = 'queued', reason = ${reason}, attempts = attempts - ${counts ? 0 : 1},
          due_at = now() + ${afterMs} * interval '1 millisecond'
    WHERE id = ${taken.id} AND revision = ${taken.revision} AND status = 'processing'`.execute(db);
}

/** Also deletes the document's passages, because they are not what it says now. */
export async function failDocument(db: Database, taken: Taken, reason: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const failed = await settled(trx, taken, { status: "failed", reason, chunk_count: 0 });
    if (!failed) return;
    await trx.deleteFrom("knowledge_chunks").where("document_id", "=", taken.id).execute();
    await forgetVectors(trx, taken.id);
  });
}

/** To be called with more time than a batch may take. Returns false if the document has changed in the meantime. */
export async function renewLease(db: Database, taken: Taken, leaseMs: number): Promise<boolean> {
  const { numAffectedRows } = await sql`UPDATE knowledge_documents SET due_at = now() + ${leaseMs} * interval '1 millisecond'
    WHERE id = ${taken.id} AND revision = ${taken.revision} AND status = 'processing'`.execute(db);
  return numAffectedRows === 1n;
}

/** Its vector is taken from those stored under its digest, if there is one. */
export type NewChunk = Omit<Insertable<KnowledgeChunkTable>, "lexemes" | "principals" | "embedding_model_id" | "vector" | "signs"> & {
  /** What it is indexed by: its place in the document, and its text. */
  readonly indexed: string;
};

const CHUNKS_AT_ONCE = 200;

type Embedded = Taken & Pick<DocumentToIndex, "embedding_model_id" | "knowledge_base_id">;

/**
 * Replaces a document's passages atomically; does nothing if it changed or was deleted in the meantime. `unembedded`: why the document
 * failed although it has passages; null if it succeeded.
 */
export async function replaceChunks(db: Database, taken: Embedded, chunks: readonly NewChunk[], unembedded: string | null): Promise<void> {
  const { embedding_model_id: modelId } = taken;
  const stored = <T>(column: "embedding_model_id" | "vector" | "signs", digest: string) => sql<T | null>`(SELECT v.${sql.ref(column)}
    FROM knowledge_vectors v WHERE v.document_id = ${taken.id} AND v.embedding_model_id = ${modelId} AND v.digest = ${digest})`;
  await db.transaction().execute(async (trx) => {
    // Locked before the document, in the same order as by those who change one: passages refer to both.
    await sql`SELECT FROM knowledge_bases WHERE id = ${taken.knowledge_base_id} FOR KEY SHARE`.execute(trx);
    const state = { status: unembedded === null ? "ready" : "failed", reason: unembedded, chunk_count: chunks.length };
    if (!(await settled(trx, taken, state))) return;
    // The vectors of passages that stay the same.
    await sql`INSERT INTO knowledge_vectors (document_id, embedding_model_id, digest, tenant_id, vector, signs)
      SELECT DISTINCT ON (c.digest) c.document_id, c.embedding_model_id, c.digest, c.tenant_id, c.vector, c.signs FROM knowledge_chunks c
       WHERE c.document_id = ${taken.id} AND c.embedding_model_id = ${modelId} AND c.vector IS NOT NULL AND c.signs IS NOT NULL
      ON CONFLICT DO NOTHING`.execute(trx);
    await trx.deleteFrom("knowledge_chunks").where("document_id", "=", taken.id).execute();
    for (let from = 0; from < chunks.length; from += CHUNKS_AT_ONCE) {
      const values = chunks.slice(from, from + CHUNKS_AT_ONCE).map(({ indexed, ...chunk }) => ({
        ...chunk,
        embedding_model_id: stored<string>("embedding_model_id", chunk.digest),
        vector: stored<Uint8Array>("vector", chunk.digest),
        signs: stored<string>("signs", chunk.digest),
        lexemes: sql<string>`to_tsvector('english', ${indexed})`,
        // Read now that the document is locked; they may have changed since it was leased.
        principals: sql<string[] | null>`(SELECT d.principals FROM knowledge_documents d WHERE d.id = ${taken.id})`,
      }));
      await trx.insertInto("knowledge_chunks").values(values).execute();
    }
    await forgetVectors(trx, taken.id);
  });
}

async function settled(
  trx: Trx,
  taken: Taken,
  state: { readonly status: string; readonly reason: string | null; readonly chunk_count: number },
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable("knowledge_documents")
    .set({ ...state, processed_at: sql<Date>`now()` })
    .where("id", "=", taken.id)
    .where("revision", "=", taken.revision)
    .where("status", "=", "processing")
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

async function forgetVectors(trx: Trx, documentId: string): Promise<void> {
  await trx.deleteFrom("knowledge_vectors").where("document_id", "=", documentId).execute();
}

/** Stores vectors of a document being indexed until its passages are written. */
export async function storeVectors(db: Database, vectors: readonly Insertable<KnowledgeVectorTable>[]): Promise<void> {
  await db
    .insertInto("knowledge_vectors")
    .values(vectors)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Digests for which the document already has a vector of the model, with its passages or stored for them. */
export async function embeddedDigests(db: Database, documentId: string, modelId: string): Promise<Set<string>> {
  const { rows } = await sql<{ digest: string }>`
    SELECT digest FROM knowledge_chunks WHERE document_id = ${documentId} AND embedding_model_id = ${modelId} AND vector IS NOT NULL
    UNION SELECT digest FROM knowledge_vectors WHERE document_id = ${documentId} AND embedding_model_id = ${modelId}`.execute(db);
  return new Set(rows.map(({ digest }) => digest));
}
