-- The hours of one resource group among those of a tenant with many. Written once for each hour and combination: what is
-- added to it later changes no column of the index.
CREATE INDEX IF NOT EXISTS usage_hourly_group ON usage_hourly (tenant_id, resource_group_id, hour);
