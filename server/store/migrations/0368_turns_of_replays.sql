-- Of each tenant, when one of its replays was heard of last: the tenant that waits longest for a turn has the next one.
CREATE INDEX replay_runs_turn ON replay_runs (tenant_id, heard_of_at);
