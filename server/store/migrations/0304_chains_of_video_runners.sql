-- Which chain a process writes to that goes on with jobs: no two that live have the same, so that whoever comes back with it
-- knows at once that the one before is dead.
ALTER TABLE video_runners ADD COLUMN chain text;
