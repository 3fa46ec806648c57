import type { JsonWithDefault, NullableStamp, Stamp, WithDefault } from "./columns.ts";

export interface KnowledgeBaseTable {
  id: string;
  tenant_id: string;
  name: string;
  description: string | null;
  enabled: WithDefault<boolean>;
  top_k: WithDefault<number>;
  similarity_threshold: WithDefault<number>;
  max_context_tokens: WithDefault<number>;
  embedding_model_id: string | null;
  indexing_group_id: string | null;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface KnowledgeDocumentTable {
  id: string;
  knowledge_base_id: string;
  tenant_id: string;
  name: string;
  kind: string;
  metadata: JsonWithDefault<Record<string, unknown>>;
  content: Uint8Array;
  digest: string;
  size_bytes: number;
  revision: WithDefault<number>;
  status: WithDefault<string>;
  reason: string | null;
  attempts: WithDefault<number>;
  due_at: Stamp;
  chunk_count: WithDefault<number>;
  principals: WithDefault<string[] | null>;
  connector_id: WithDefault<string | null>;
  created_at: Stamp;
  updated_at: Stamp;
  processed_at: NullableStamp;
}

export interface KnowledgeChunkTable {
  document_id: string;
  ordinal: number;
  knowledge_base_id: string;
  tenant_id: string;
  heading: string;
  body: string;
  tokens: number;
  digest: string;
  lexemes: string;
  embedding_model_id: string | null;
  vector: Uint8Array | null;
  signs: string | null;
  principals: WithDefault<string[] | null>;
}

export interface KnowledgeVectorTable {
  document_id: string;
  embedding_model_id: string;
  digest: string;
  tenant_id: string;
  vector: Uint8Array;
  signs: string;
}

export interface KnowledgeIdentityTable {
  id: string;
  tenant_id: string;
  end_user_id: string;
  connector_type: string;
  source_identity: string;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface KnowledgeConnectorTable {
  id: string;
  tenant_id: string;
  knowledge_base_id: string;
  name: string;
  connector_type: string;
  location: string;
  mapping_file: string;
  credential_sealed: WithDefault<string | null>;
  every_minutes: number;
  enabled: boolean;
  due_at: Stamp;
  synced_at: NullableStamp;
  problem: string | null;
  skipped: JsonWithDefault<string[]>;
  created_at: Stamp;
  updated_at: Stamp;
}
