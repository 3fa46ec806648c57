-- Audio tokens in micro-dollars per million, null: as other tokens. Searches of the vendor's own web search in
-- micro-dollars for a million of them, null: unpriced.
ALTER TABLE models
  ADD COLUMN audio_input_cost bigint,
  ADD COLUMN audio_output_cost bigint,
  ADD COLUMN web_search_cost bigint;
