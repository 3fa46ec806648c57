-- Files that are uploaded in pieces, as Google's clients send them: whose each is, and which pieces have come.
CREATE TABLE resumable_uploads (
  id text PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  resource_group_id uuid NOT NULL REFERENCES resource_groups ON DELETE CASCADE,
  end_user_id uuid REFERENCES end_users ON DELETE CASCADE,
  display_name text,
  -- As it was said to become.
  size_bytes bigint NOT NULL,
  received_bytes bigint NOT NULL DEFAULT 0,
  -- Of the store of bytes, in order: {"key": …, "bytes": …}. They go with the bytes of other uploads that came to nothing.
  pieces jsonb NOT NULL DEFAULT '[]',
  expires_at timestamptz NOT NULL
);
CREATE INDEX resumable_uploads_of_group ON resumable_uploads (resource_group_id);
CREATE INDEX resumable_uploads_of_person ON resumable_uploads (end_user_id) WHERE end_user_id IS NOT NULL;
CREATE INDEX resumable_uploads_of_tenant ON resumable_uploads (tenant_id);
CREATE INDEX resumable_uploads_expiring ON resumable_uploads (expires_at);
