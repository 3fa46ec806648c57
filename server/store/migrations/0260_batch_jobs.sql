-- Jobs of many requests that nobody waits for. A job belongs to the tenant, the group and, where a person's token made it,
-- that person, and is carried out as whoever made it for as long as they are let in.
CREATE TABLE batch_jobs (
  id text PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  resource_group_id uuid NOT NULL REFERENCES resource_groups ON DELETE CASCADE,
  end_user_id uuid REFERENCES end_users ON DELETE CASCADE,
  api_key_id uuid,
  credential_name text NOT NULL,
  endpoint text NOT NULL,
  model text NOT NULL,
  completion_window text NOT NULL,
  description text,
  metadata jsonb,
  retry_interrupted boolean NOT NULL DEFAULT false,
  status text NOT NULL,
  -- What it becomes once its last line has ended; null: completed.
  ends_as text,
  error jsonb,
  -- What is wrong with lines of its file, at most as many as a person reads.
  problems jsonb,
  input_file_id text,
  output_file_id text,
  error_file_id text,
  -- Where the submitting call stands in the record, which its lines are filed under.
  root_task_id text NOT NULL,
  run_id text,
  correlation_id text NOT NULL,
  submitted_by_call text NOT NULL,
  client_ip text NOT NULL,
  total integer NOT NULL DEFAULT 0,
  open_lines integer NOT NULL DEFAULT 0,
  running_lines integer NOT NULL DEFAULT 0,
  completed integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  cancelled integer NOT NULL DEFAULT 0,
  expired integer NOT NULL DEFAULT 0,
  cost_micros bigint NOT NULL DEFAULT 0,
  prompt_tokens bigint NOT NULL DEFAULT 0,
  completion_tokens bigint NOT NULL DEFAULT 0,
  -- Why it waits, and until when.
  paused jsonb,
  wait_until timestamptz,
  last_claimed_at timestamptz,
  created_at timestamptz NOT NULL,
  in_progress_at timestamptz,
  cancelling_at timestamptz,
  finalizing_at timestamptz,
  ended_at timestamptz,
  expires_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX batch_jobs_of_group ON batch_jobs (resource_group_id, id);
CREATE INDEX batch_jobs_of_person ON batch_jobs (end_user_id, id);
CREATE INDEX batch_jobs_under_way ON batch_jobs (tenant_id) WHERE ended_at IS NULL;
CREATE INDEX batch_jobs_ended ON batch_jobs (tenant_id, ended_at) WHERE ended_at IS NOT NULL;

-- One line is one call. Whoever carries it out holds it until `lease_until`; its result is written once, by whoever holds
-- it then.
CREATE TABLE batch_lines (
  job_id text NOT NULL REFERENCES batch_jobs ON DELETE CASCADE,
  tenant_id text NOT NULL,
  seq integer NOT NULL,
  custom_id text NOT NULL,
  body text NOT NULL,
  state text NOT NULL DEFAULT 'open',
  attempt integer NOT NULL DEFAULT 0,
  owner text,
  lease_until timestamptz,
  request_id text,
  status_code integer,
  response text,
  error jsonb,
  PRIMARY KEY (job_id, seq)
);
CREATE INDEX batch_lines_open ON batch_lines (job_id, seq) WHERE state = 'open';
CREATE INDEX batch_lines_running ON batch_lines (lease_until) WHERE state = 'running';
