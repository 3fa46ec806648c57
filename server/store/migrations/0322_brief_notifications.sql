-- What a notification says instead where guardrails look, by the time it is sent, at what it would say; NULL where it says no more than that.
ALTER TABLE agent_push_deliveries ADD COLUMN brief text;
