-- Knowledge bases in calls, and who may find a document that its source system guards.

-- Null: as the group above says. An id whose knowledge base went is left where it stands: it names nothing.
ALTER TABLE resource_groups ADD COLUMN default_knowledgebase_ids uuid[];

-- Who an end user is in a system that documents come from.
CREATE TABLE kb_identities (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  end_user_id uuid NOT NULL REFERENCES end_users ON DELETE CASCADE,
  connector_type text NOT NULL,
  source_identity text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (tenant_id, end_user_id, connector_type, source_identity)
);
CREATE INDEX kb_identities_end_user ON kb_identities (end_user_id);

-- Null: whoever may use the knowledge base finds it. Else only who is one of these in its source, each written as
-- `connector_type:source_identity`; `*` is everybody. The passages say it too, so that a search decides before it ranks.
ALTER TABLE knowledge_documents ADD COLUMN principals text[];
ALTER TABLE knowledge_chunks ADD COLUMN principals text[];
