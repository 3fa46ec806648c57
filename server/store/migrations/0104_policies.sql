-- What governs calls: limits, guardrails, policies over arguments and in words, and answers given again.

-- Limit and governance documents of resource groups, as they were written: one row for each document, with the model,
-- tool server or skill it refines, or '' when it is the group's own.
CREATE TABLE group_policies (
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  group_id uuid NOT NULL REFERENCES resource_groups ON DELETE CASCADE,
  kind text NOT NULL,
  item_id text NOT NULL DEFAULT '',
  document jsonb NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (group_id, kind, item_id)
);
CREATE INDEX group_policies_tenant ON group_policies (tenant_id);

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
CREATE INDEX argument_policy_groups_group ON argument_policy_groups (group_id);

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
CREATE INDEX semantic_policies_judge ON semantic_policies (judge_model_id);

CREATE TABLE semantic_policy_groups (
  policy_id uuid NOT NULL REFERENCES semantic_policies ON DELETE CASCADE,
  group_id uuid NOT NULL REFERENCES resource_groups ON DELETE CASCADE,
  tenant_id text NOT NULL,
  PRIMARY KEY (policy_id, group_id)
);
CREATE INDEX semantic_policy_groups_tenant ON semantic_policy_groups (tenant_id);
CREATE INDEX semantic_policy_groups_group ON semantic_policy_groups (group_id);

-- Semantic cache: answers given again to requests that ask the same. generation changes when stored answers stop being
-- valid, so that no process gives one it still holds in memory and none in flight is stored afterwards.
CREATE TABLE semantic_cache_configs (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  name text NOT NULL,
  enabled boolean NOT NULL DEFAULT true,
  scope text NOT NULL DEFAULT 'group',
  exact_match jsonb NOT NULL,
  semantic_match jsonb NOT NULL,
  embedding_model_id uuid REFERENCES models,
  max_temperature double precision NOT NULL DEFAULT 0,
  include_tools boolean NOT NULL DEFAULT false,
  generation uuid NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (tenant_id, name)
);
CREATE INDEX semantic_cache_configs_embedding ON semantic_cache_configs (embedding_model_id);

CREATE TABLE semantic_cache_config_groups (
  config_id uuid NOT NULL REFERENCES semantic_cache_configs ON DELETE CASCADE,
  group_id uuid NOT NULL REFERENCES resource_groups ON DELETE CASCADE,
  tenant_id text NOT NULL,
  PRIMARY KEY (config_id, group_id)
);
CREATE INDEX semantic_cache_config_groups_tenant ON semantic_cache_config_groups (tenant_id);
CREATE INDEX semantic_cache_config_groups_group ON semantic_cache_config_groups (group_id);

-- space: digest of everything under which answers may stand for each other. exact_key: digest of the whole request.
-- embedding: 8-bit components of the question's unit vector, null where only exact matches count. answer: the answer in
-- no vendor's format. call_id, end_user_id and api_key_id say whose content it is, for erasure.
CREATE TABLE semantic_cache_entries (
  id text PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  config_id uuid NOT NULL REFERENCES semantic_cache_configs ON DELETE CASCADE,
  exact_key text NOT NULL,
  space text,
  embedding bytea,
  model_id uuid NOT NULL,
  model_name text NOT NULL,
  answer jsonb NOT NULL,
  tokens bigint NOT NULL,
  call_id text NOT NULL,
  end_user_id uuid,
  api_key_id uuid,
  exact_until timestamptz,
  semantic_until timestamptz,
  created_at timestamptz NOT NULL,
  UNIQUE (tenant_id, config_id, exact_key)
);
CREATE INDEX semantic_cache_entries_space ON semantic_cache_entries (tenant_id, config_id, space, created_at) WHERE embedding IS NOT NULL;
CREATE INDEX semantic_cache_entries_config ON semantic_cache_entries (config_id, id);
CREATE INDEX semantic_cache_entries_over ON semantic_cache_entries (GREATEST(exact_until, semantic_until));
CREATE INDEX semantic_cache_entries_call ON semantic_cache_entries (tenant_id, call_id);
CREATE INDEX semantic_cache_entries_end_user ON semantic_cache_entries (tenant_id, end_user_id) WHERE end_user_id IS NOT NULL;
