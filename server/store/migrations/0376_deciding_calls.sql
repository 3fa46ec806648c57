-- When the newest call began that says what its run would end as (last_id, last_result). It is not always the newest of all
-- (last_at): calls that the gateway made for a caller's say nothing of the run.
ALTER TABLE runs ADD COLUMN decided_at timestamptz;
UPDATE runs SET decided_at = last_at WHERE state = 'open';
