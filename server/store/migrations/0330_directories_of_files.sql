-- The directory that has the bytes, which other processes may not reach: whoever removes them has to have it. NULL where every
-- process reaches them, and where they were stored before this was noted.
ALTER TABLE files ADD COLUMN directory text;
ALTER TABLE blobs_to_remove ADD COLUMN directory text;

CREATE OR REPLACE FUNCTION remove_bytes_of_file() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND OLD.deleted_at IS NOT NULL THEN RETURN NULL; END IF;
  IF TG_OP = 'UPDATE' AND NOT (OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL) THEN RETURN NULL; END IF;
  INSERT INTO blobs_to_remove (key, due_at, directory) VALUES (OLD.id, now(), OLD.directory)
    ON CONFLICT (key) DO UPDATE SET due_at = now(), directory = excluded.directory;
  RETURN NULL;
END $$;

-- Directories that files are stored in, and when a process that has one said so last: where there are several, a file is there for
-- some callers and not for others, which a start warns of.
CREATE TABLE file_directories (
  id text PRIMARY KEY,
  seen_at timestamptz NOT NULL
);
