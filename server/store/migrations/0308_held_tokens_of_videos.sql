-- The tokens that a video may come to, where its provider bills by them: held of quotas while it is made.
ALTER TABLE video_jobs ADD COLUMN held_tokens bigint NOT NULL DEFAULT 0;
