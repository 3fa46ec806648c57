-- Videos that providers make while nobody waits. A job's row says where it stands and what any process needs to go on with
-- it: the process that has it asks the provider, stores what came, and settles what it cost.
CREATE TABLE video_jobs (
  id text PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  resource_group_id uuid NOT NULL REFERENCES resource_groups ON DELETE CASCADE,
  end_user_id uuid REFERENCES end_users ON DELETE CASCADE,
  api_key_id uuid REFERENCES api_keys ON DELETE SET NULL,
  status text NOT NULL,
  model_id text NOT NULL,
  model text NOT NULL,
  provider_key text NOT NULL,
  -- The provider's own id of the job; null until it gave one.
  upstream_id text,
  -- As its caller asked for it.
  resolution text,
  seconds double precision,
  chat_id text,
  display_name text,
  -- What may come to be billed, and at which prices: those of the moment it was asked for.
  prices jsonb NOT NULL,
  held_micro_usd bigint NOT NULL,
  progress smallint NOT NULL DEFAULT 0,
  -- The process that has it, and when that one looks at it again.
  owner uuid,
  look_at timestamptz NOT NULL,
  looks integer NOT NULL DEFAULT 0,
  failures integer NOT NULL DEFAULT 0,
  output_file_id text,
  cost_micro_usd bigint,
  usage jsonb,
  error jsonb,
  -- The row that tells what it came to: named before it is written, so that nobody writes another one.
  settlement_id text,
  settling_since timestamptz,
  settled_at timestamptz,
  -- The call that asked for it, and what its own row has of that.
  request_id text NOT NULL,
  root_task_id text,
  correlation_id text,
  client_ip text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  ended_at timestamptz,
  expires_at timestamptz NOT NULL,
  deleted_at timestamptz
);
CREATE INDEX video_jobs_of_group ON video_jobs (resource_group_id, id);
CREATE INDEX video_jobs_of_person ON video_jobs (end_user_id, id);
CREATE INDEX video_jobs_of_tenant ON video_jobs (tenant_id, ended_at);
CREATE INDEX video_jobs_of_key ON video_jobs (api_key_id);
CREATE INDEX video_jobs_under_way ON video_jobs (owner, look_at) WHERE settled_at IS NULL;

-- The processes that have jobs, and until when each is taken to be alive.
CREATE TABLE video_runners (
  id uuid PRIMARY KEY,
  alive_until timestamptz NOT NULL
);
