-- When a person posted notices in the last minute: their limit holds over all processes.
CREATE TABLE notice_posts (
  end_user_id uuid PRIMARY KEY REFERENCES end_users ON DELETE CASCADE,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  posted_at timestamptz[] NOT NULL
);
