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

CREATE TABLE semantic_cache_config_groups (
  config_id uuid NOT NULL REFERENCES semantic_cache_configs ON DELETE CASCADE,
  group_id uuid NOT NULL REFERENCES resource_groups ON DELETE CASCADE,
  tenant_id text NOT NULL,
  PRIMARY KEY (config_id, group_id)
);
CREATE INDEX semantic_cache_config_groups_tenant ON semantic_cache_config_groups (tenant_id);

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
