-- Batch jobs: many requests under one name, carried out beside the calls. The job's row says where it stands; its lines are
-- the queue they are taken from and the results they leave, so that any process can go on where another one died.
CREATE TABLE batch_jobs (
  id text PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  resource_group_id uuid NOT NULL REFERENCES resource_groups ON DELETE CASCADE,
  end_user_id uuid REFERENCES end_users ON DELETE CASCADE,
  api_key_id uuid REFERENCES api_keys ON DELETE SET NULL,
  status text NOT NULL,
  -- What it is to be called once nothing of it is under way any more.
  ends_as text,
  endpoint text NOT NULL,
  completion_window text NOT NULL,
  -- Null where its lines name several.
  model text,
  model_id text,
  description text,
  metadata jsonb,
  retry_interrupted boolean NOT NULL DEFAULT false,
  total_requests integer NOT NULL DEFAULT 0,
  completed integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  input_file_id text,
  output_file_id text,
  error_file_id text,
  error jsonb,
  -- What was wrong with lines that were never run.
  problems jsonb,
  -- The call that submitted it, and what its lines have of that.
  request_id text NOT NULL,
  root_task_id text,
  correlation_id text,
  client_ip text NOT NULL,
  paused_until timestamptz,
  -- The process that writes its end, and until when nobody else does.
  taken_by uuid,
  taken_until timestamptz,
  created_at timestamptz NOT NULL,
  in_progress_at timestamptz,
  finalizing_at timestamptz,
  cancelling_at timestamptz,
  ended_at timestamptz,
  expires_at timestamptz NOT NULL
);
CREATE INDEX batch_jobs_of_group ON batch_jobs (resource_group_id, id);
CREATE INDEX batch_jobs_of_person ON batch_jobs (end_user_id, id);
CREATE INDEX batch_jobs_of_tenant ON batch_jobs (tenant_id, id);
CREATE INDEX batch_jobs_of_key ON batch_jobs (api_key_id);
CREATE INDEX batch_jobs_under_way ON batch_jobs (status) WHERE ended_at IS NULL;

-- state: 0 waits, 1 is with a process, 2 was answered, 3 failed.
CREATE TABLE batch_lines (
  job_id text NOT NULL REFERENCES batch_jobs ON DELETE CASCADE,
  line integer NOT NULL,
  custom_id text NOT NULL,
  body text NOT NULL,
  state smallint NOT NULL DEFAULT 0,
  attempt integer NOT NULL DEFAULT 0,
  owner uuid,
  status_code smallint,
  request_id text,
  result text,
  error_code text,
  error_message text,
  PRIMARY KEY (job_id, line)
);
CREATE INDEX batch_lines_waiting ON batch_lines (job_id, line) WHERE state = 0;
CREATE INDEX batch_lines_with_a_process ON batch_lines (owner, job_id) WHERE state = 1;

-- The processes that carry lines, and until when each is taken to be alive.
CREATE TABLE batch_runners (
  id uuid PRIMARY KEY,
  alive_until timestamptz NOT NULL
);

-- What the rows of a job's lines came to, added up with the rows themselves as they are stored. No reference to the job: a
-- row may arrive when its job is gone.
CREATE TABLE batch_costs (
  job_id text PRIMARY KEY,
  tenant_id text NOT NULL,
  cost_micro_usd bigint NOT NULL,
  unpriced bigint NOT NULL
);
