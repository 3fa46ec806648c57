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

-- price_tiers and price_changes hold prices as the other columns do: micro-dollars per million tokens. Media prices are
-- micro-dollars for a million images, seconds, characters and seconds. is_healthy is null until a probe was made.
ALTER TABLE models
  ADD COLUMN routing_group_id text,
  ADD COLUMN routing_weight bigint NOT NULL DEFAULT 1,
  ADD COLUMN cache_write_hour_cost bigint,
  ADD COLUMN price_tiers jsonb NOT NULL DEFAULT '[]',
  ADD COLUMN price_changes jsonb NOT NULL DEFAULT '[]',
  ADD COLUMN image_cost bigint,
  ADD COLUMN audio_input_second_cost bigint,
  ADD COLUMN audio_output_character_cost bigint,
  ADD COLUMN video_second_cost bigint,
  ADD COLUMN supported_image_qualities text[] NOT NULL DEFAULT '{}',
  ADD COLUMN supported_video_resolutions text[] NOT NULL DEFAULT '{}',
  ADD COLUMN supported_video_durations double precision[] NOT NULL DEFAULT '{}',
  ADD COLUMN max_video_duration_seconds double precision,
  ADD COLUMN is_healthy boolean,
  ADD COLUMN health_checked_at timestamptz,
  ADD CONSTRAINT models_routing_group FOREIGN KEY (tenant_id, routing_group_id) REFERENCES routing_groups (tenant_id, id);
CREATE INDEX models_routing_group ON models (tenant_id, routing_group_id) WHERE routing_group_id IS NOT NULL;
