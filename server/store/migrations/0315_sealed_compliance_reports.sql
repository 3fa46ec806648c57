-- Compliance reports kept as they were told: configuration and retention move on, the sealed one stays. content is the
-- report's JSON text as it is answered, envelope its signed statement, digest of the report's canonical text.
CREATE TABLE sealed_compliance_reports (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  framework text NOT NULL,
  window_from timestamptz NOT NULL,
  window_to timestamptz NOT NULL,
  digest text NOT NULL,
  content text NOT NULL,
  envelope text NOT NULL,
  sealed_by text,
  created_at timestamptz NOT NULL DEFAULT now()
);
-- One of a window and framework, or the same question would have two answers.
CREATE UNIQUE INDEX sealed_compliance_reports_window ON sealed_compliance_reports (tenant_id, framework, window_from, window_to);
CREATE INDEX sealed_compliance_reports_newest ON sealed_compliance_reports (tenant_id, created_at DESC, id);
