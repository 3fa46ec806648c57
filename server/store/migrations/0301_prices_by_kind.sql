-- Tokens that are pictures and videos have prices of their own, and pictures and seconds of video differ by what was asked for.
ALTER TABLE models
  ADD COLUMN image_input_cost bigint,
  ADD COLUMN image_output_cost bigint,
  ADD COLUMN image_cache_read_cost bigint,
  ADD COLUMN video_output_cost bigint,
  ADD COLUMN image_prices jsonb NOT NULL DEFAULT '[]',
  ADD COLUMN video_prices jsonb NOT NULL DEFAULT '[]';
