-- Answers with tool calls that wait for somebody's approval, sealed with the gateway's key: what was approved is what is given.
CREATE TABLE held_answers (
  approval_id uuid PRIMARY KEY REFERENCES approvals ON DELETE CASCADE,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  sealed text NOT NULL
);
