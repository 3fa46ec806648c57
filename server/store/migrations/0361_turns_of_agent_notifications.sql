-- Of each tenant the deliveries that are due the longest: one that is told of much does not keep the others waiting.
CREATE INDEX agent_push_deliveries_turn ON agent_push_deliveries (tenant_id, due_at);
DROP INDEX agent_push_deliveries_due;
