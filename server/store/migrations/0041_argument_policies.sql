-- Policies over the arguments of tool calls, as they were written. group_ids null: every group of the tenant.
CREATE TABLE argument_policies (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  name text NOT NULL,
  description text,
  enabled boolean NOT NULL DEFAULT true,
  group_ids uuid[],
  surface text NOT NULL,
  target text NOT NULL,
  argument_key text,
  analyzer text NOT NULL,
  severity text NOT NULL,
  rules jsonb NOT NULL,
  dialect text,
  read_functions jsonb,
  schema jsonb,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (tenant_id, name)
);
