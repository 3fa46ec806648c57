import type { KnowledgeBaseGrantRow } from "../../store/knowledge/knowledge-bases.ts";

/** A knowledge base as calls use it. */
export interface KnowledgeBaseEntry {
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly topK: number;
  readonly similarityThreshold: number;
  readonly maxContextTokens: number;
  readonly embeddingModelId: string | null;
  readonly groupIds: ReadonlySet<string>;
}

export function knowledgeBaseEntries(rows: readonly KnowledgeBaseGrantRow[]): KnowledgeBaseEntry[] {
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    enabled: row.enabled,
    topK: row.top_k,
    similarityThreshold: row.similarity_threshold,
    maxContextTokens: row.max_context_tokens,
    embeddingModelId: row.embedding_model_id,
    groupIds: new Set(row.group_ids),
  }));
}

/** The parts of a scope that decide which knowledge bases it grants. */
interface GrantedScope {
  readonly grantingGroups: ReadonlySet<string>;
  readonly tenant: { readonly knowledgeBases: readonly KnowledgeBaseEntry[] };
}

/** The knowledge bases that a group's callers may use, enabled or not, granted directly or inherited. */
export function grantedKnowledgeBases({ grantingGroups, tenant }: GrantedScope): KnowledgeBaseEntry[] {
  return tenant.knowledgeBases.filter(({ groupIds }) => !groupIds.isDisjointFrom(grantingGroups));
}
