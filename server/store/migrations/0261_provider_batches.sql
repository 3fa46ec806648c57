-- Batches that providers run themselves. Who runs the jobs of a provider's models, and the part of the usual price that the
-- provider takes for a line: null is a half.
ALTER TABLE providers ADD COLUMN batch_mode text NOT NULL DEFAULT 'gateway';
ALTER TABLE models ADD COLUMN batch_price_factor double precision;

-- Who runs a job is settled when it begins. The row of its end has its id before it is written, and the chain it is written
-- to, so that whoever takes the job over can tell whether it was.
ALTER TABLE batch_jobs
  ADD COLUMN mode text NOT NULL DEFAULT 'gateway',
  ADD COLUMN end_row_id text,
  ADD COLUMN end_chain text,
  ADD COLUMN end_begun_at timestamptz;

-- What was, or is to be, handed to a provider as one batch of its own.
CREATE TABLE batch_submissions (
  id text PRIMARY KEY,
  job_id text NOT NULL REFERENCES batch_jobs ON DELETE CASCADE,
  tenant_id text NOT NULL,
  model_id text NOT NULL,
  operation text NOT NULL,
  lines integer NOT NULL,
  -- ready, sending (the provider may have it), running, fetched, ended.
  state text NOT NULL DEFAULT 'ready',
  -- What the provider calls it.
  provider_batch text,
  cancelled boolean NOT NULL DEFAULT false,
  attempts integer NOT NULL DEFAULT 0,
  looks integer NOT NULL DEFAULT 0,
  sending_since timestamptz,
  look_at timestamptz NOT NULL DEFAULT now(),
  -- The process that looks after it, and until when nobody else does.
  taken_by uuid,
  taken_until timestamptz,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX batch_submissions_of_job ON batch_submissions (job_id);
CREATE INDEX batch_submissions_under_way ON batch_submissions (look_at) WHERE state <> 'ended';

-- Lines that every control let pass and that a provider is to answer in a batch, from then until they are given: 4 of
-- batch_lines.state says that a line has left, 5 that its answer is there. What its row says so far, what it asks, what
-- is sent (gone once the provider has it), and what came back.
CREATE TABLE batch_departures (
  job_id text NOT NULL,
  line integer NOT NULL,
  tenant_id text NOT NULL,
  submission_id text,
  -- The process it left from, which holds for it what it may come to, and gives its answer as long as it lives.
  left_from uuid NOT NULL,
  call_id text NOT NULL,
  model_id text NOT NULL,
  operation text NOT NULL,
  audit_row text NOT NULL,
  asked text NOT NULL,
  sent text,
  bytes integer NOT NULL,
  status smallint,
  answer text,
  -- Why there is no answer.
  unanswered text,
  -- The chain its row was about to be written to, and since when.
  chain text,
  given_at timestamptz,
  PRIMARY KEY (job_id, line),
  FOREIGN KEY (job_id, line) REFERENCES batch_lines ON DELETE CASCADE
);
CREATE INDEX batch_departures_of_submission ON batch_departures (submission_id, line);
CREATE INDEX batch_departures_to_bundle ON batch_departures (job_id) WHERE submission_id IS NULL;
CREATE INDEX batch_lines_answered ON batch_lines (job_id, line) WHERE state = 5;
