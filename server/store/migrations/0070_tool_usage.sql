-- Calls of tool servers by the hour, from which their counters are warmed after a restart. '' stands for absence.
CREATE TABLE tool_usage_hourly (
  tenant_id text NOT NULL,
  hour timestamptz NOT NULL,
  resource_group_id text NOT NULL,
  server_id text NOT NULL,
  calls bigint NOT NULL,
  PRIMARY KEY (tenant_id, hour, resource_group_id, server_id)
);
