-- What an agent told of a task's cost while no call waited for it is told by a row of its own: `told_micros` is what was heard since
-- its owner last sent it a message, `owed_micros` what is left to tell of the messages before, and `cost_due_at` when a row is to
-- tell what no call has. `request_id` is the call that began the task.
ALTER TABLE agent_tasks
  ADD COLUMN told_micros bigint NOT NULL DEFAULT 0,
  ADD COLUMN owed_micros bigint NOT NULL DEFAULT 0,
  ADD COLUMN cost_due_at timestamptz,
  ADD COLUMN request_id text;
CREATE INDEX agent_tasks_cost_due ON agent_tasks (cost_due_at) WHERE cost_due_at IS NOT NULL;
-- Tasks under way that nobody asks for are looked at by the gateway.
CREATE INDEX agent_tasks_left ON agent_tasks (updated_at)
  WHERE state IN ('TASK_STATE_UNSPECIFIED', 'TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING');

-- Which row tells what part of a task's cost, until that row is known to be there: the cost that a process counted and did not
-- record when it died is told by another row.
CREATE TABLE agent_cost_claims (
  tenant_id text NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
  agent_id text NOT NULL,
  task_id text NOT NULL,
  row_id text NOT NULL,
  micros bigint NOT NULL,
  claimed_at timestamptz NOT NULL DEFAULT now(),
  look_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, agent_id, task_id, row_id),
  FOREIGN KEY (tenant_id, agent_id, task_id) REFERENCES agent_tasks (tenant_id, agent_id, id) ON DELETE CASCADE
);
CREATE INDEX agent_cost_claims_look ON agent_cost_claims (look_at);
