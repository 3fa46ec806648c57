-- The newest runs of a group that ended otherwise than completed, and of one reported outcome: few of many, so that looking
-- for them among all its runs would read most of those.
CREATE INDEX runs_ended_otherwise ON runs (resource_group_id, state, started_at) WHERE state NOT IN ('open', 'completed');
CREATE INDEX runs_outcome ON runs (resource_group_id, outcome, started_at) WHERE outcome IS NOT NULL;
