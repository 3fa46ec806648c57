-- Results of tool calls that requests to models carried, where a cap counts them: from them the cap's counters are warmed
-- after a restart.
ALTER TABLE usage_hourly ADD COLUMN tool_results bigint NOT NULL DEFAULT 0;
