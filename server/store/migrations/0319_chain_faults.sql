-- Chains of the ledger that a verification found to be other than they were written, until one of the whole chain finds nothing: what is
-- certified of an AI System, and its health, rest on them.
CREATE TABLE chain_faults (
  chain_id text PRIMARY KEY,
  verdict text NOT NULL,
  found_at timestamptz NOT NULL
);
