-- Runs that go take their part of their hour with them, so that the hour goes on to tell of those that are still open:
-- hours went as a whole, and an old run that ended then was taken off an hour that was not there.
LOCK TABLE runs IN SHARE ROW EXCLUSIVE MODE;
DO $make$
DECLARE
  -- How new runs are added up (0064): what goes and what is there are added up alike.
  add_up constant text := (SELECT prosrc FROM pg_proc WHERE oid = 'runs_inserted()'::regprocedure);
BEGIN
  EXECUTE 'CREATE FUNCTION runs_deleted() RETURNS trigger LANGUAGE plpgsql AS $fn$' || replace(add_up, 'SELECT 1 AS sign, * FROM new_runs', 'SELECT -1 AS sign, * FROM old_runs') || '$fn$';
  DELETE FROM run_hourly;
  EXECUTE 'DO $fn$' || replace(replace(add_up, 'SELECT 1 AS sign, * FROM new_runs', 'SELECT 1 AS sign, * FROM runs'), 'RETURN NULL;', '') || '$fn$';
END $make$;
CREATE TRIGGER runs_deleted AFTER DELETE ON runs REFERENCING OLD TABLE AS old_runs FOR EACH STATEMENT EXECUTE FUNCTION runs_deleted();
