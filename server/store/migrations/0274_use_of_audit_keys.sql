-- A key that signs checkpoints no more was valid for ever, so that whoever came by it later could sign for any time. Processes say that they
-- have a key; one that none has had for a week is valid no longer. Of those known so far that begins now.
ALTER TABLE audit_keys ADD COLUMN used_at timestamptz;
UPDATE audit_keys SET used_at = now();
