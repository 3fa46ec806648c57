-- Policies over the arguments of tool calls that models generate, as they were written. Without a row in
-- argument_policy_groups a policy holds for nobody, unless all_groups says that it holds for every group of the tenant.
CREATE TABLE argument_policies (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  name text NOT NULL,
  description text,
  surface text NOT NULL,
  target text NOT NULL,
  argument_key text,
  analyzer text NOT NULL,
  severity text NOT NULL,
  enabled boolean NOT NULL DEFAULT true,
  rules jsonb NOT NULL,
  -- What belongs to one analyzer only: dialect and read_functions to sql, schema to json_schema.
  dialect text,
  read_functions text[],
  schema jsonb,
  all_groups boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (tenant_id, name)
);

CREATE TABLE argument_policy_groups (
  policy_id uuid NOT NULL REFERENCES argument_policies ON DELETE CASCADE,
  group_id uuid NOT NULL REFERENCES resource_groups ON DELETE CASCADE,
  tenant_id text NOT NULL,
  PRIMARY KEY (policy_id, group_id)
);
CREATE INDEX argument_policy_groups_tenant ON argument_policy_groups (tenant_id);
