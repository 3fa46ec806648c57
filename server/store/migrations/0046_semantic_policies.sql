-- Semantic policies: rules in words that a model judges texts by. Without a row in semantic_policy_groups a policy holds
-- for nobody, unless all_groups says that it holds for every group of the tenant.
CREATE TABLE semantic_policies (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  name text NOT NULL,
  description text,
  constraint_text text NOT NULL,
  action text NOT NULL,
  mode text NOT NULL,
  surfaces text[] NOT NULL,
  enabled boolean NOT NULL DEFAULT true,
  judge_model_id uuid REFERENCES models,
  on_judge_failure text NOT NULL,
  timeout_seconds double precision NOT NULL,
  all_groups boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (tenant_id, name)
);

CREATE TABLE semantic_policy_groups (
  policy_id uuid NOT NULL REFERENCES semantic_policies ON DELETE CASCADE,
  group_id uuid NOT NULL REFERENCES resource_groups ON DELETE CASCADE,
  tenant_id text NOT NULL,
  PRIMARY KEY (policy_id, group_id)
);
CREATE INDEX semantic_policy_groups_tenant ON semantic_policy_groups (tenant_id);
