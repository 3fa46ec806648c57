-- Each value a rotated key had before is taken until its own grace ends. The newest of them stands in the key's record as
-- previous_hash; those that were replaced within their grace stand here.
CREATE TABLE IF NOT EXISTS former_key_values (
  key_hash text PRIMARY KEY,
  api_key_id uuid NOT NULL REFERENCES api_keys ON DELETE CASCADE,
  valid_until timestamptz NOT NULL
);
CREATE INDEX IF NOT EXISTS former_key_values_key ON former_key_values (api_key_id);
CREATE INDEX IF NOT EXISTS former_key_values_end ON former_key_values (valid_until);

-- What a request with an Idempotency-Key was answered, sealed because new keys are in it. It is written in the transaction
-- that makes the record, and is_final once nothing is added to the answer any more. record_id: whose data are in it.
CREATE TABLE IF NOT EXISTS idempotent_answers (
  admin_id uuid NOT NULL REFERENCES admin_users ON DELETE CASCADE,
  key_hash text NOT NULL,
  request_hash text NOT NULL,
  record_id text,
  answer_sealed text NOT NULL,
  is_final boolean NOT NULL DEFAULT false,
  made_at timestamptz NOT NULL,
  PRIMARY KEY (admin_id, key_hash)
);
CREATE INDEX IF NOT EXISTS idempotent_answers_made ON idempotent_answers (made_at);
CREATE INDEX IF NOT EXISTS idempotent_answers_record ON idempotent_answers (record_id);
