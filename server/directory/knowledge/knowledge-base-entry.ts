import type { KnowledgeBaseGrantRow } from "../../store/knowledge/knowledge-bases.ts";

/** A knowledge base as calls see it. */
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

/** A scope, as far as knowledge bases are granted by it. */
interface GrantedScope {
  readonly grantingGroups: ReadonlySet<string>;
  readonly tenant: { readonly knowledgeBases: readonly KnowledgeBaseEntry[] };
}

/** Those that callers of a group may use, on or off: granted to it or handed down to it. */
export function grantedKnowledgeBases({ grantingGroups, tenant }: GrantedScope): KnowledgeBaseEntry[] {
  return tenant.knowledgeBases.filter(({ groupIds }) => !groupIds.isDisjointFrom(grantingGroups));
}
