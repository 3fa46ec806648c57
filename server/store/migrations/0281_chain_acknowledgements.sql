-- Findings of a verification that somebody knows of: they stay findings, and count no more in health, certificates and alerts. Of one
-- tenant, or of all where it is null. Told in the admin log, whose chain seals who did it, when and why.
CREATE TABLE chain_acknowledgements (
  chain_id text NOT NULL,
  finding_id text NOT NULL,
  tenant_id text REFERENCES tenants (id) ON DELETE CASCADE,
  verdict text NOT NULL,
  chain_seq bigint NOT NULL,
  through_seq bigint NOT NULL,
  detail text NOT NULL,
  -- Of the last row that was verified: an end that no checkpoint is over is the same one while this is its head.
  head_hash text,
  note text NOT NULL,
  acknowledged_by text,
  acknowledged_at timestamptz NOT NULL,
  UNIQUE NULLS NOT DISTINCT (chain_id, finding_id, tenant_id)
);

-- Names of what was found in a chain that has a fault, but for what is only unanchored. They are of the fault that was found at this
-- moment; without them nobody can know of all that was found.
CREATE TABLE chain_fault_findings (
  chain_id text PRIMARY KEY,
  found_at timestamptz NOT NULL,
  findings text[] NOT NULL
);
