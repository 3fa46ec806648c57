-- Vectors of a document that is being read: what was embedded is paid for once, and a process that reads holds none of them.
CREATE TABLE knowledge_vectors (
  document_id uuid NOT NULL REFERENCES knowledge_documents ON DELETE CASCADE,
  embedding_model_id uuid NOT NULL,
  digest text NOT NULL,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  vector bytea NOT NULL,
  signs bit varying NOT NULL,
  PRIMARY KEY (document_id, embedding_model_id, digest)
);
ALTER TABLE knowledge_vectors ALTER COLUMN vector SET STORAGE EXTERNAL;
CREATE INDEX knowledge_vectors_tenant ON knowledge_vectors (tenant_id);
