-- Providers, their models, and the virtual models that pick among them.

-- max_tokens_parameter: how an OpenAI-compatible server calls the ceiling on output; null: as its vendor does.
CREATE TABLE providers (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  provider_key text NOT NULL,
  name text NOT NULL,
  api_format text NOT NULL,
  base_url text,
  api_key_sealed text,
  api_key_hint text,
  headers jsonb NOT NULL DEFAULT '{}',
  region text,
  enabled boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  max_tokens_parameter text,
  UNIQUE (tenant_id, provider_key)
);

-- Routing groups: virtual models that pick one of their members for each call. The id is a slug an admin chose, so it is
-- unique in its tenant only; model_id is the gateway id of the virtual model. Durations are seconds.
CREATE TABLE routing_groups (
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  id text NOT NULL,
  model_id uuid NOT NULL UNIQUE,
  name text NOT NULL,
  description text,
  mode text NOT NULL DEFAULT 'chat',
  routing_strategy text NOT NULL DEFAULT 'simple-shuffle',
  enabled boolean NOT NULL DEFAULT true,
  allowed_fails bigint NOT NULL DEFAULT 3,
  cooldown_time double precision NOT NULL DEFAULT 30,
  cooldown_window double precision NOT NULL DEFAULT 60,
  num_retries bigint NOT NULL DEFAULT 2,
  retry_after double precision NOT NULL DEFAULT 0,
  timeout double precision,
  rpm_limit bigint,
  tpm_limit bigint,
  max_parallel_requests bigint,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, name)
);

-- Prices of tokens are micro-dollars per million, also in price_tiers and price_changes; null means unpriced, which is not
-- the same as free, but for audio tokens, which then cost what other tokens do. Prices of images, seconds, characters and
-- the vendor's own web searches are micro-dollars for a million of them. is_healthy is null until a probe was made.
CREATE TABLE models (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  provider_id uuid NOT NULL REFERENCES providers,
  name text NOT NULL,
  model_name text NOT NULL,
  description text,
  modes text[] NOT NULL,
  enabled boolean NOT NULL DEFAULT true,
  base_url text,
  api_key_sealed text,
  api_key_hint text,
  default_temperature double precision,
  default_max_tokens bigint,
  system_prompt text,
  input_cost bigint,
  output_cost bigint,
  cache_read_cost bigint,
  cache_write_cost bigint,
  context_window bigint,
  max_output_tokens bigint,
  supports_vision boolean NOT NULL DEFAULT false,
  supports_tools boolean NOT NULL DEFAULT true,
  supports_file_uploads boolean NOT NULL DEFAULT false,
  supports_streaming boolean NOT NULL DEFAULT true,
  rate_limit_rpm bigint,
  rate_limit_tpm bigint,
  max_concurrent_requests bigint,
  residency_region text,
  icon_url text,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  routing_group_id text,
  routing_weight bigint NOT NULL DEFAULT 1,
  cache_write_hour_cost bigint,
  price_tiers jsonb NOT NULL DEFAULT '[]',
  price_changes jsonb NOT NULL DEFAULT '[]',
  image_cost bigint,
  audio_input_second_cost bigint,
  audio_output_character_cost bigint,
  video_second_cost bigint,
  supported_image_qualities text[] NOT NULL DEFAULT '{}',
  supported_video_resolutions text[] NOT NULL DEFAULT '{}',
  supported_video_durations double precision[] NOT NULL DEFAULT '{}',
  max_video_duration_seconds double precision,
  is_healthy boolean,
  health_checked_at timestamptz,
  -- What a model takes that its format alone does not say; null: as the catalog knows models of its name.
  supports_system_turns boolean,
  supports_sampling boolean,
  max_tokens_parameter text,
  audio_input_cost bigint,
  audio_output_cost bigint,
  web_search_cost bigint,
  CONSTRAINT models_routing_group FOREIGN KEY (tenant_id, routing_group_id) REFERENCES routing_groups (tenant_id, id),
  UNIQUE (tenant_id, name)
);
CREATE INDEX models_provider ON models (provider_id);
CREATE INDEX models_routing_group ON models (tenant_id, routing_group_id) WHERE routing_group_id IS NOT NULL;

-- Models are renamed, and what is set for one of them holds on: its use is kept by its id. A name that was given up says
-- whose it was until when, because rows know models by name and may arrive late.
CREATE TABLE former_model_names (
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  name text NOT NULL,
  until timestamptz NOT NULL,
  model_id uuid NOT NULL REFERENCES models ON DELETE CASCADE,
  PRIMARY KEY (tenant_id, name, until)
);
CREATE INDEX former_model_names_model ON former_model_names (model_id);

CREATE TABLE resource_group_models (
  group_id uuid NOT NULL REFERENCES resource_groups ON DELETE CASCADE,
  model_id uuid NOT NULL REFERENCES models ON DELETE CASCADE,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  portal_visible boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (group_id, model_id)
);
CREATE INDEX resource_group_models_model ON resource_group_models (model_id);

-- A binding shows the virtual model in the group; access stays that of the members, each granted on its own.
CREATE TABLE resource_group_virtual_models (
  group_id uuid NOT NULL REFERENCES resource_groups ON DELETE CASCADE,
  model_id uuid NOT NULL REFERENCES routing_groups (model_id) ON DELETE CASCADE,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  portal_visible boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (group_id, model_id)
);
CREATE INDEX resource_group_virtual_models_model ON resource_group_virtual_models (model_id);

-- What providers want sent back with a tool call and the caller's format has no place for, until it may be forgotten. The
-- name is an HMAC of the caller's scope and the call's id; what is kept is sealed for that name.
CREATE TABLE kept_signatures (
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  name text NOT NULL,
  sealed text NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, name)
);
CREATE INDEX kept_signatures_expiry ON kept_signatures (expires_at);
