-- Calls of skills by hour: what limits on skills are warmed from and held to.
CREATE TABLE skill_usage_hourly (
  tenant_id text NOT NULL,
  hour timestamptz NOT NULL,
  -- Empty where a call was in no group.
  resource_group_id text NOT NULL,
  -- Empty of a call that names no skill.
  skill_id text NOT NULL,
  calls bigint NOT NULL,
  PRIMARY KEY (tenant_id, hour, resource_group_id, skill_id)
);
