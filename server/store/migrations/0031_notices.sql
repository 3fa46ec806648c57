-- What people are told before they talk to an AI system: one row for a tenant, and one for each system that differs.
CREATE TABLE notice_configs (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  ai_system_id uuid REFERENCES resource_groups ON DELETE CASCADE,
  enabled boolean NOT NULL,
  surface text NOT NULL,
  texts jsonb NOT NULL,
  exemption jsonb,
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE NULLS NOT DISTINCT (tenant_id, ai_system_id)
);

-- The notices sealed for each conversation, so that its inference records can refer to the earliest. The records
-- themselves are on audit rows.
CREATE TABLE conversation_notices (
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  conversation_handle text NOT NULL,
  method text NOT NULL,
  record_id text NOT NULL,
  noticed_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, conversation_handle, method)
);
