-- Knowledge bases: documents in passages that calls are given the fitting ones of.

-- Without an embedding model its passages are found by their words alone.
CREATE TABLE knowledge_bases (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  name text NOT NULL,
  description text,
  enabled boolean NOT NULL DEFAULT true,
  top_k bigint NOT NULL DEFAULT 5,
  similarity_threshold double precision NOT NULL DEFAULT 0,
  max_context_tokens bigint NOT NULL DEFAULT 2000,
  embedding_model_id uuid REFERENCES models,
  indexing_group_id uuid REFERENCES resource_groups ON DELETE SET NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (tenant_id, name)
);
CREATE INDEX knowledge_bases_model ON knowledge_bases (embedding_model_id);
CREATE INDEX knowledge_bases_indexing_group ON knowledge_bases (indexing_group_id);

-- Who may use one: the group, and those below that inherit from it.
CREATE TABLE knowledge_base_groups (
  knowledge_base_id uuid NOT NULL REFERENCES knowledge_bases ON DELETE CASCADE,
  group_id uuid NOT NULL REFERENCES resource_groups ON DELETE CASCADE,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  PRIMARY KEY (knowledge_base_id, group_id)
);
CREATE INDEX knowledge_base_groups_group ON knowledge_base_groups (group_id);
CREATE INDEX knowledge_base_groups_tenant ON knowledge_base_groups (tenant_id);

-- A document as it was uploaded; one name is one document. What is written of it by the process that reads it is written only
-- while the revision is the one it read.
CREATE TABLE knowledge_documents (
  id uuid PRIMARY KEY,
  knowledge_base_id uuid NOT NULL REFERENCES knowledge_bases ON DELETE CASCADE,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  name text NOT NULL,
  kind text NOT NULL,
  metadata jsonb NOT NULL DEFAULT '{}',
  content bytea NOT NULL,
  digest text NOT NULL,
  size_bytes bigint NOT NULL,
  revision bigint NOT NULL DEFAULT 1,
  status text NOT NULL DEFAULT 'queued',
  reason text,
  attempts bigint NOT NULL DEFAULT 0,
  -- When it is next taken up: of a queued one after a pause, of one in process after whoever took it up is given up.
  due_at timestamptz NOT NULL DEFAULT now(),
  chunk_count bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  processed_at timestamptz,
  UNIQUE (knowledge_base_id, name)
);
CREATE INDEX knowledge_documents_due ON knowledge_documents (due_at) WHERE status IN ('queued', 'processing');
CREATE INDEX knowledge_documents_tenant ON knowledge_documents (tenant_id);
CREATE INDEX knowledge_documents_metadata ON knowledge_documents USING gin (metadata jsonb_path_ops);

-- The passages. `signs` has one bit for each component of the vector, by which candidates are found without an extension;
-- which of those are nearest is worked out from the vectors, float32 in little-endian order.
CREATE TABLE knowledge_chunks (
  document_id uuid NOT NULL REFERENCES knowledge_documents ON DELETE CASCADE,
  ordinal bigint NOT NULL,
  knowledge_base_id uuid NOT NULL REFERENCES knowledge_bases ON DELETE CASCADE,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  heading text NOT NULL,
  body text NOT NULL,
  tokens bigint NOT NULL,
  digest text NOT NULL,
  lexemes tsvector NOT NULL,
  embedding_model_id uuid,
  vector bytea,
  signs bit varying,
  PRIMARY KEY (document_id, ordinal)
);
-- Out of line, so that a search over the signs reads none of them.
ALTER TABLE knowledge_chunks ALTER COLUMN vector SET STORAGE EXTERNAL;
CREATE INDEX knowledge_chunks_base ON knowledge_chunks (knowledge_base_id);
CREATE INDEX knowledge_chunks_tenant ON knowledge_chunks (tenant_id);
CREATE INDEX knowledge_chunks_lexemes ON knowledge_chunks USING gin (lexemes);
