import { sql } from "kysely";
import type { Database } from "../database.ts";
import { inSignSpace, type SignSpace } from "./knowledge-sign-indexes.ts";

/** The limits of a search, applied in the query itself: nothing outside them is counted, ranked or read. */
export interface SearchScope {
  readonly tenantId: string;
  readonly baseIds: readonly string[];
  /** Metadata that a document must have; null for any. */
  readonly filters: object | null;
  /** The reader's identities in the source systems, including `*`; null for an administrator of the knowledge base. */
  readonly principals: readonly string[] | null;
}

export interface ChunkKey {
  readonly document_id: string;
  readonly ordinal: number;
}

export interface FoundChunk extends ChunkKey {
  readonly knowledge_base_id: string;
  readonly document_name: string;
  readonly heading: string;
  readonly body: string;
  readonly tokens: number;
  readonly digest: string;
  readonly embedding_model_id: string | null;
  readonly vector: Uint8Array | null;
}

const within = ({ tenantId, baseIds, filters, principals }: SearchScope) => sql`
  c.tenant_id = ${tenantId} AND c.knowledge_base_id = ANY (${baseIds as string[]}::uuid[])
  ${principals === null ? sql`` : sql`AND (c.principals IS NULL OR c.principals && ${principals as string[]}::text[])`}
  ${
    filters === null
      ? sql``
      : sql`AND c.document_id IN (SELECT d.id FROM knowledge_documents d WHERE d.tenant_id = ${tenantId}
              AND d.knowledge_base_id = ANY (${baseIds as string[]}::uuid[]) AND d.metadata @> ${JSON.stringify(filters)}::jsonb)`
  }`;

const WORDS = 32;
/** A word that more passages contain says little: it counts only if there is no rarer one. */
const PASSAGES_A_WORD = 5_000;

/** Passages with any of the question's words, those with the rarest first. A question does not require all of its words. */
export async function chunksByWords(db: Database, scope: SearchScope, question: string, limit: number): Promise<ChunkKey[]> {
  const { rows } = await sql<ChunkKey>`
    WITH words AS (SELECT lexeme FROM unnest(to_tsvector('english', ${question})) LIMIT ${WORDS}),
    hits AS MATERIALIZED (
      SELECT words.lexeme, hit.* FROM words CROSS JOIN LATERAL (
        SELECT c.document_id, c.ordinal, c.tokens FROM knowledge_chunks c
         WHERE c.lexemes @@ quote_literal(words.lexeme)::tsquery AND ${within(scope)} LIMIT ${PASSAGES_A_WORD + 1}) hit),
    counts AS (SELECT lexeme, count(*) AS n FROM hits GROUP BY lexeme),
    telling AS (SELECT lexeme, n FROM counts
                 WHERE n <= ${PASSAGES_A_WORD} OR NOT EXISTS (SELECT FROM counts WHERE n <= ${PASSAGES_A_WORD}))
    SELECT document_id, ordinal FROM hits JOIN telling USING (lexeme)
     GROUP BY document_id, ordinal
     ORDER BY sum(1 / ln(2.7 + n)) * (1 / (1 + max(tokens) / 2000.0)) DESC, document_id, ordinal LIMIT ${limit}`.execute(db);
  return rows;
}

/** Passages whose sign bits differ least from the question's: candidates among which the nearest are computed exactly. */
export async function chunksBySigns(db: Database, scope: SearchScope, modelId: string, signs: string, limit: number): Promise<ChunkKey[]> {
  // Vectors of another length are not comparable, and comparing their bits would fail.
  const { rows } = await sql<ChunkKey>`
    SELECT c.document_id, c.ordinal FROM knowledge_chunks c
     WHERE ${within(scope)} AND c.embedding_model_id = ${modelId} AND length(c.signs) = ${signs.length}
     ORDER BY CASE WHEN length(c.signs) = ${signs.length} THEN bit_count(c.signs # ${signs}::bit varying) END, c.document_id, c.ordinal
     LIMIT ${limit}`.execute(db);
  return rows;
}

/** How many candidates the index search keeps; fewer would miss some of the nearest. */
const CANDIDATES = 400;

/** The same for one knowledge base with an index (pgvector). Covers all passages, so only for readers who may see all. */
export async function indexedChunksBySigns(db: Database, tenantId: string, space: SignSpace, signs: string, limit: number) {
  const bits = sql.lit(space.bits);
  return db.transaction().execute(async (trx) => {
    await sql`SET LOCAL hnsw.ef_search = ${sql.lit(CANDIDATES)}`.execute(trx);
    const { rows } = await sql<ChunkKey>`
      SELECT document_id, ordinal FROM knowledge_chunks WHERE tenant_id = ${tenantId} AND ${inSignSpace(space)}
       ORDER BY signs::bit(${bits}) <~> ${signs}::bit(${bits}) LIMIT ${limit}`.execute(trx);
    return rows;
  });
}

/** Whether any document of these knowledge bases is restricted to some readers. */
export async function anyForSomeOnly(db: Database, { tenantId, baseIds }: SearchScope): Promise<boolean> {
  const { rows } = await sql<{ some: boolean }>`
    SELECT EXISTS (SELECT FROM knowledge_documents WHERE tenant_id = ${tenantId} AND knowledge_base_id = ANY (${baseIds as string[]}::uuid[])
       AND principals IS NOT NULL) AS some`.execute(db);
  return rows[0]?.some !== false;
}

export async function readChunks(db: Database, scope: SearchScope, keys: readonly ChunkKey[]): Promise<FoundChunk[]> {
  if (keys.length === 0) return [];
  const { rows } = await sql<FoundChunk>`
    SELECT c.document_id, c.ordinal, c.knowledge_base_id, d.name AS document_name, c.heading, c.body, c.tokens, c.digest,
           c.embedding_model_id, c.vector
      FROM unnest(${keys.map((key) => key.document_id)}::uuid[], ${keys.map((key) => key.ordinal)}::bigint[]) AS k (document_id, ordinal)
      JOIN knowledge_chunks c ON c.document_id = k.document_id AND c.ordinal = k.ordinal
      JOIN knowledge_documents d ON d.id = c.document_id
     WHERE ${within(scope)}`.execute(db);
  return rows;
}
