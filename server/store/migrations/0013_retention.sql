-- How far a tenant's rows have been reduced to what their hash covers.
CREATE TABLE audit_retention (
  tenant_id text PRIMARY KEY,
  reduced_before text COLLATE "C" NOT NULL
);

-- Erasures of data subjects. `subject` holds, under the name of each identifying column, the SHA-256 of salt and value:
-- enough to know the subject's rows when they arrive late from a journal, and no identifier itself.
CREATE TABLE data_erasures (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  at timestamptz NOT NULL,
  requested_by text,
  reason text,
  salt text NOT NULL,
  subject jsonb NOT NULL,
  rows_erased bigint NOT NULL,
  runs_changed bigint NOT NULL
);
CREATE INDEX data_erasures_tenant ON data_erasures (tenant_id, id);
CREATE INDEX data_erasures_at ON data_erasures (at);
CREATE TRIGGER data_erasures_append_only BEFORE UPDATE OR DELETE ON data_erasures FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER data_erasures_not_truncated BEFORE TRUNCATE ON data_erasures FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
