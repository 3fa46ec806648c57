-- Places that documents of a knowledge base are taken from again and again.
CREATE TABLE knowledge_connectors (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  knowledge_base_id uuid NOT NULL REFERENCES knowledge_bases ON DELETE CASCADE,
  name text NOT NULL,
  connector_type text NOT NULL,
  location text NOT NULL,
  mapping_file text NOT NULL,
  every_minutes bigint NOT NULL,
  enabled boolean NOT NULL,
  -- When it is next looked at; of one that is being looked at, when whoever took it up is given up.
  due_at timestamptz NOT NULL DEFAULT now(),
  synced_at timestamptz,
  problem text,
  skipped jsonb NOT NULL DEFAULT '[]',
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (tenant_id, name)
);
CREATE INDEX knowledge_connectors_base ON knowledge_connectors (knowledge_base_id);
CREATE INDEX knowledge_connectors_due ON knowledge_connectors (due_at) WHERE enabled;

-- What a connector brought goes with it.
ALTER TABLE knowledge_documents ADD COLUMN connector_id uuid REFERENCES knowledge_connectors ON DELETE CASCADE;
CREATE INDEX knowledge_documents_connector ON knowledge_documents (connector_id) WHERE connector_id IS NOT NULL;
