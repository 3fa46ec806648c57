-- The admin log stands in a chain of its own, so that a change of policy can be proved like a call. Entries from before
-- it have no place in the chain: nothing was sealed when they were written.
ALTER TABLE admin_log ADD COLUMN chain_seq bigint UNIQUE, ADD COLUMN prev_hash text, ADD COLUMN entry_hash text;

CREATE TABLE admin_log_head (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  seq bigint NOT NULL,
  hash text NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO admin_log_head (seq, hash) VALUES (0, repeat('0', 64));

CREATE TABLE admin_log_checkpoints (
  checkpoint_no bigint PRIMARY KEY,
  chain_seq bigint NOT NULL,
  note text NOT NULL,
  signed_at timestamptz NOT NULL
);
CREATE TRIGGER admin_log_not_truncated BEFORE TRUNCATE ON admin_log FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
