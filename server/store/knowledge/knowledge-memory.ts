import { sql } from "kysely";
import type { Database } from "../database.ts";

export interface ChangedDocument {
  readonly id: string;
  readonly changed_in: number;
  readonly chunk_count: number;
  readonly principals: string[] | null;
}

export interface KnowledgeChanges {
  /** The `since` of the next call. */
  readonly upto: number;
  /** The number of documents in the knowledge base. */
  readonly count: number;
  readonly changed: readonly ChangedDocument[];
}

/** Documents changed by transactions since `since`; some may have been returned before. The result is one consistent snapshot. */
export async function knowledgeChanges(db: Database, tenantId: string, baseId: string, since: number): Promise<KnowledgeChanges> {
  const { rows } = await sql<KnowledgeChanges>`
    SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS upto,
      (SELECT count(*) FROM knowledge_documents d WHERE d.knowledge_base_id = ${baseId} AND d.tenant_id = ${tenantId}) AS count,
      coalesce((SELECT jsonb_agg(jsonb_build_object('id', d.id, 'changed_in', d.changed_in, 'chunk_count', d.chunk_count,
          'principals', d.principals)) FROM knowledge_documents d
        WHERE d.knowledge_base_id = ${baseId} AND d.tenant_id = ${tenantId} AND d.changed_in >= ${since}), '[]') AS changed`.execute(db);
  return rows[0] as KnowledgeChanges;
}

export async function knowledgeDocumentIds(
  db: Database,
  tenantId: string,
  baseIds: readonly string[],
  filters: object | null,
): Promise<Set<string>> {
  let query = db.selectFrom("knowledge_documents").select("id").where("tenant_id", "=", tenantId).where("knowledge_base_id", "in", baseIds);
  if (filters !== null) query = query.where(sql<boolean>`metadata @> ${JSON.stringify(filters)}::jsonb`);
  return new Set((await query.execute()).map(({ id }) => id));
}

/** The words of a question, in the form that passages are indexed by. */
export async function lexemesOf(db: Database, question: string): Promise<string[]> {
  const { rows } = await sql<{ lexeme: string }>`SELECT lexeme FROM unnest(to_tsvector('english', ${question}))`.execute(db);
  return rows.map(({ lexeme }) => lexeme);
}
