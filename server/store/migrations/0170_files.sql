-- Files that callers stored. The record outlives the bytes: it says what there was until the rows of the ledger go.
CREATE TABLE files (
  id text PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  resource_group_id uuid NOT NULL REFERENCES resource_groups ON DELETE CASCADE,
  end_user_id uuid REFERENCES end_users ON DELETE CASCADE,
  kind text NOT NULL,
  purpose text,
  mime_type text NOT NULL,
  size_bytes bigint NOT NULL,
  content_hash text NOT NULL,
  chat_id text,
  model_id text,
  display_name text,
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  deleted_at timestamptz,
  access_count bigint NOT NULL DEFAULT 0
);
CREATE INDEX files_of_group ON files (resource_group_id, id);
CREATE INDEX files_of_person ON files (end_user_id, id);
CREATE INDEX files_of_chat ON files (tenant_id, chat_id);
CREATE INDEX files_end ON files (expires_at) WHERE deleted_at IS NULL;
CREATE INDEX files_gone ON files (tenant_id, deleted_at) WHERE deleted_at IS NOT NULL;

-- Bytes that are to be removed, and when. An upload stands here while it has no record, so that a process that dies leaves
-- none behind; a record that goes, however it goes, puts its bytes here.
CREATE TABLE blobs_to_remove (
  key text PRIMARY KEY,
  due_at timestamptz NOT NULL
);
CREATE INDEX blobs_to_remove_due ON blobs_to_remove (due_at);

CREATE FUNCTION remove_bytes_of_file() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND OLD.deleted_at IS NOT NULL THEN RETURN NULL; END IF;
  IF TG_OP = 'UPDATE' AND NOT (OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL) THEN RETURN NULL; END IF;
  INSERT INTO blobs_to_remove (key, due_at) VALUES (OLD.id, now()) ON CONFLICT (key) DO UPDATE SET due_at = now();
  RETURN NULL;
END $$;
CREATE TRIGGER files_remove_bytes AFTER DELETE OR UPDATE OF deleted_at ON files FOR EACH ROW EXECUTE FUNCTION remove_bytes_of_file();

-- Tenants that were there before say nothing of files: they have what a new one has.
UPDATE tenants SET data_retention = '{"file_days": 30}'::jsonb || data_retention;
