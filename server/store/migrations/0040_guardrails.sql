-- Guardrail configurations, as they were written. group_ids null: every group of the tenant. A group that is gone stays
-- named: taking the last one away must not make a configuration hold for everybody or for nobody by accident.
CREATE TABLE guardrail_configs (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  name text NOT NULL,
  description text,
  enabled boolean NOT NULL DEFAULT true,
  group_ids uuid[],
  surfaces jsonb NOT NULL,
  builtin jsonb NOT NULL,
  -- Keys of engines are sealed in it.
  providers jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (tenant_id, name)
);
