-- A suite that goes takes its runs along: they are found by it, not by reading them all.
CREATE INDEX replay_runs_suite ON replay_runs (suite_id);
