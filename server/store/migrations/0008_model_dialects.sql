-- What a model takes that its format alone does not say; null: as the catalog knows models of its name.
ALTER TABLE models
  ADD COLUMN supports_system_turns boolean,
  ADD COLUMN supports_sampling boolean,
  ADD COLUMN max_tokens_parameter text;

-- How an OpenAI-compatible server calls the ceiling on output; null: as its vendor does.
ALTER TABLE providers ADD COLUMN max_tokens_parameter text;
