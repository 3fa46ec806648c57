-- The states a task went through as they were seen, so that its life can be told when it is over. `at` is when its agent says
-- the state was reached. A hostile agent may change a task's state without end: at most 200 are kept for each.
CREATE TABLE agent_task_states (
  tenant_id text NOT NULL,
  agent_id text NOT NULL,
  task_id text NOT NULL,
  state text NOT NULL,
  at timestamptz NOT NULL,
  seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (tenant_id, agent_id, task_id, at, state),
  FOREIGN KEY (tenant_id, agent_id, task_id) REFERENCES agent_tasks (tenant_id, agent_id, id) ON DELETE CASCADE
);
