-- Spans that a process is recording just now. Which are recorded already is read from audit_rows, where a row comes a moment later: until
-- then the claim keeps another process, to which the sender turned as well, from recording the same span once more. A database that lost
-- them in a crash has lost nothing that is needed.
CREATE UNLOGGED TABLE span_claims (
  tenant_id text NOT NULL,
  trace_id text NOT NULL,
  span_id text NOT NULL,
  owner uuid NOT NULL,
  claimed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, trace_id, span_id)
);
CREATE INDEX span_claims_claimed ON span_claims (claimed_at);
