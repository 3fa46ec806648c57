-- Videos that are made of another one: remixed, edited or gone on with. The other may be gone long before its job's row is.
ALTER TABLE video_jobs
  ADD COLUMN source_job_id text,
  -- How long that one is, where the new video is it and what follows: a provider then tells the length of both together.
  ADD COLUMN source_seconds double precision;
