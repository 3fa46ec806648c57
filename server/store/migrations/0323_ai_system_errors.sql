-- Calls of the hour that failed, beside those that were refused or wait for approval; null in hours recorded before.
ALTER TABLE ai_system_hours ADD COLUMN errors bigint;
