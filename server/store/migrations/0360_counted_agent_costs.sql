-- What was counted of the cost an agent tells of its task, in millionths of a dollar, since its owner last sent it a message:
-- whoever joins the task's events or asks for it is told the same cost again.
ALTER TABLE agent_tasks ADD COLUMN counted_micros bigint NOT NULL DEFAULT 0;
