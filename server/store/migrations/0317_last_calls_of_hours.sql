-- When the newest call of each hour came, answered or not: whether a system is called says nothing of whether it is answered.
ALTER TABLE ai_system_hours ADD COLUMN last_at timestamptz;
